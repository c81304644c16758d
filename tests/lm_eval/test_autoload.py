"""lm-eval finds our tasks and our model by name, in real releases and real interpreters."""

import csv
import json
import re
import shutil
import sys
import tomllib
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from lm_eval.api import registry

from hkcanto_lm_eval import index
from hkcanto_lm_eval._autoload import attempt
from hkcanto_lm_eval._autoload import install as install_hook
from hkcanto_tasks.catalogue import BENCHMARKS
from hkcanto_tasks.commands.autoload import DISTRIBUTION, FILES
from hkcanto_tasks.errors import OptionError

from .environments import (
    HOOK,
    REPOSITORY,
    Environment,
    build_wheels,
    create_environment,
    install,
    install_editable,
    uninstall,
    unpack_lm_eval,
)

TASK = "hkcanto_g2p"
BUILT_IN = "arc_easy"
PTH = "hkcanto_lm_eval.pth"
COMMAND = "from hkcanto_tasks.cli import app; app()"
HOOKS = "import sys; print(sum(hasattr(f, 'hkcanto_autoload') for f in sys.meta_path))"
RELEASES = ("0.4.13", "0.5.0.dev1")
NEWEST = RELEASES[0]


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return build_wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="session")
def alone(tmp_path_factory: pytest.TempPathFactory, wheels: list[Path]) -> Environment:
    """An environment with only our wheels. Tests must not change it."""
    return install(create_environment(tmp_path_factory.mktemp("alone")), *wheels)


@pytest.fixture(scope="session")
def installed(
    tmp_path_factory: pytest.TempPathFactory, wheels: list[Path]
) -> Environment:
    """An environment with our wheels and all dependencies. Tests must not change it."""
    return install(
        create_environment(tmp_path_factory.mktemp("all"), dependencies=True), *wheels
    )


@pytest.fixture
def copy_of_alone(alone: Environment, tmp_path: Path) -> Environment:
    return Environment(shutil.copytree(alone.folder, tmp_path / "venv", symlinks=True))


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Function from a version to the folder of that lm-eval. Tests must not change it.

    It has few of the built-in tasks, because lm-eval needs many seconds to scan 14,000 YAMLs.
    """

    @cache
    def unpack(version: str) -> Path:
        return unpack_lm_eval(version, tmp_path_factory.mktemp("lm_eval"), tasks="arc")

    return unpack


@pytest.fixture(params=RELEASES)
def each_release(
    request: pytest.FixtureRequest, release: Callable[[str], Path]
) -> Path:
    return release(request.param)


@pytest.fixture
def newest(installed: Environment, release: Callable[[str], Path]) -> Environment:
    return installed.using(release(NEWEST))


FOLDER_OF = {
    "the package, not loaded (PR #4015)": "find_spec(point.module).submodule_search_locations[0]",
    "what the object returns": "point.load()()",
}


@pytest.fixture(scope="session", params=FOLDER_OF.values(), ids=FOLDER_OF)
def upstream(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The newest release, changed so that it reads entry points.

    Tasks as upstream's PR #4015 proposes (folders of entry points between the built-in folder and
    the user's, whether or not there are built-in tasks), models as its main branch has it (#4013).
    """
    folder = unpack_lm_eval(NEWEST, tmp_path_factory.mktemp("upstream"), tasks="arc")
    insert(
        folder / "lm_eval/tasks/manager.py",
        before="        if include_path:\n",
        text="        from importlib.metadata import entry_points\n"
        "        from importlib.util import find_spec\n"
        "        for point in entry_points(group='lm_eval.tasks'):\n"
        f"            all_paths.append(Path({request.param}).resolve())\n",
    )
    insert(
        folder / "lm_eval/api/registry.py",
        before="def get_model(model_name: str):\n",
        text="def load_plugins(group, registry):\n"
        "    for point in md.entry_points(group=group):\n"
        "        if point.name not in registry:\n"
        "            registry.register(point.name, target=point)\n\n\n",
    )
    return folder


def insert(file: Path, *, before: str, text: str) -> None:
    source = file.read_text("utf-8")
    assert source.count(before) == 1
    file.write_text(source.replace(before, text + before), "utf-8")


def our_folder(environment: Environment) -> Path:
    return environment.site_packages / "hkcanto_lm_eval/tasks"


def is_ours(environment: Environment, yaml: str) -> bool:
    return Path(yaml).is_relative_to(our_folder(environment))


def write_task(folder: Path, name: str = TASK) -> str:
    """Write a YAML that every release indexes; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mine.yaml").write_text(f"task: {name}\ndataset_path: none\n", "utf-8")
    return str(folder / "mine.yaml")


@pytest.mark.slow
class TestInterpreterStart:
    def test_is_silent_and_imports_three_modules(
        self, alone: Environment, copy_of_alone: Environment
    ) -> None:
        (copy_of_alone.site_packages / PTH).unlink()
        modules = "import sys; print(*sys.modules)"
        hooked, plain = alone.start("-c", modules), copy_of_alone.start("-c", modules)
        added = set(hooked.stdout.split()) - set(plain.stdout.split())
        package = "hkcanto_lm_eval"
        assert added == {f"{package}_hook", package, f"{package}._autoload"}
        assert hooked.stderr == ""

    def test_a_missing_lm_eval_is_reported_as_ever(self, alone: Environment) -> None:
        assert alone.run(HOOKS) == "1"
        done = alone.start("-c", "import lm_eval.tasks")
        assert (
            done.stderr.splitlines()[-1]
            == "ModuleNotFoundError: No module named 'lm_eval'"
        )
        assert "hkcanto" not in done.stderr

    def test_is_switched_off(self, alone: Environment) -> None:
        for value in ("0", "false", "No", " OFF "):
            assert alone.run(HOOKS, HKCANTO_AUTOLOAD=value) == "0", value
        for value in ("1", "true", ""):
            assert alone.run(HOOKS, HKCANTO_AUTOLOAD=value) == "1", value

    def test_the_finder_goes_after_its_work(self, newest: Environment) -> None:
        code = (
            "import sys, lm_eval.tasks\n"
            "from hkcanto_lm_eval._autoload import install, is_installed\n"
            "install()\n"
            "print(is_installed(), any('LmEvalFinder' in repr(f) for f in sys.meta_path))"
        )
        assert newest.run(code) == "True False"

    def test_a_second_installation_adds_nothing(self, alone: Environment) -> None:
        again = (
            "from runpy import run_path\n"
            "from hkcanto_lm_eval import _autoload\n"
            "_autoload.install()\n"
            "run_path(_autoload.__file__)['install']()  # another copy\n"
        )
        assert alone.run(again + HOOKS) == "1"

    def test_spawned_processes_have_it(self, alone: Environment) -> None:
        code = (
            "import multiprocessing, sys\n"
            "with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
            "    print(*pool.apply(eval, ['__import__(\"sys\").meta_path']))\n"
        )
        assert "LmEvalFinder" in alone.run(code)

    def test_a_half_removed_or_damaged_package_stops_no_interpreter(
        self, copy_of_alone: Environment
    ) -> None:
        package = copy_of_alone.site_packages / "hkcanto_lm_eval"
        damages: list[Callable[[], object]] = [
            lambda: (package / "_autoload.py").write_text("def ("),
            (package / "_autoload.py").unlink,
            lambda: shutil.rmtree(package),
        ]
        for damage in damages:
            damage()
            done = copy_of_alone.start("-c", "print('started')")
            assert (done.stdout, done.returncode) == ("started\n", 0)
            is_damaged = (package / "_autoload.py").exists()
            assert (PTH in done.stderr) == is_damaged

    def test_python_3_15_reads_the_start_file_instead_of_the_import_line(
        self, copy_of_alone: Environment
    ) -> None:
        """Its rules (PEP 829), for Pythons that do not have them yet."""
        places = copy_of_alone.site_packages
        statement = "import hkcanto_lm_eval_hook; hkcanto_lm_eval_hook.start()\n"
        assert (places / PTH).read_text("utf-8") == statement
        (places / PTH).unlink()
        start = (
            "from pathlib import Path; from pkgutil import resolve_name\n"
            f"for line in Path({str(places / 'hkcanto_lm_eval.start')!r}).read_text('utf-8').split():\n"
            "    resolve_name(line)()\n"
        )
        if sys.version_info < (3, 15):
            assert copy_of_alone.run(HOOKS) == "0"
        assert copy_of_alone.run(f"import sys\n{start}{HOOKS}") == "1"


@pytest.mark.slow
class TestTasks:
    def test_are_found_without_an_option(
        self, installed: Environment, each_release: Path
    ) -> None:
        index = installed.using(each_release).index()
        assert is_ours(installed, index.yaml[TASK])
        assert Path(index.yaml[BUILT_IN]).is_relative_to(each_release)
        assert index.include_path is None
        assert "hkcanto" not in index.log

    @pytest.mark.parametrize("version", RELEASES)
    def test_run_by_name_in_every_release_of_lm_eval(
        self,
        installed: Environment,
        release: Callable[[str], Path],
        version: str,
        tmp_path: Path,
    ) -> None:
        """The newest release has all of its own tasks here, as for a user."""
        whole = version == RELEASES[-1]
        folder = unpack_lm_eval(version, tmp_path) if whole else release(version)
        environment = installed.using(folder)
        command = ("-m", "lm_eval", "--model", "hkcanto-g2p", "--tasks", TASK)
        done = environment.start(*command, HKCANTO_DATA="sample", HF_HUB_OFFLINE="1")
        assert done.returncode == 0, done.stderr
        assert f"|{TASK} (sample data)" in done.stdout

    def test_have_options_and_examples_of_each_subject_in_every_release_of_lm_eval(
        self, installed: Environment, each_release: Path
    ) -> None:
        code = (
            "import json\n"
            "from lm_eval import simple_evaluate\n"
            "from lm_eval.tasks import TaskManager\n"
            "from lm_eval.models.dummy import DummyLM\n"
            "class Model(DummyLM):\n"
            "    tokenizer = None\n"
            "options = {'subjects': 'food,life_in_hk', 'shots': 2}\n"
            "results = simple_evaluate(Model(), tasks=['hkcanto_cultural'], bootstrap_iters=0,\n"
            "    task_manager=TaskManager(metadata=options), metadata=options)\n"
            "samples = results['samples']['hkcanto_cultural']\n"
            "print(json.dumps([[s['doc']['subject'], s['arguments'][0][0]] for s in samples]))\n"
        )
        environment = installed.using(each_release)
        printed = environment.run(code, HKCANTO_DATA="sample", HF_HUB_OFFLINE="1")
        prompts = json.loads(printed.splitlines()[-1])
        assert len(prompts) == 14
        for subject in ("food", "life_in_hk"):
            dev = BENCHMARKS / f"hkcanto/sample/cultural/dev/{subject}_dev.csv"
            with dev.open(encoding="utf-8", newline="") as rows:
                questions = [row[0] for row in csv.reader(rows)]
            for own, prompt in prompts:
                shown = [question for question in questions if question in prompt]
                assert shown == (questions[:2] if own == subject else [])

    def test_are_not_found_when_switched_off(self, newest: Environment) -> None:
        index = newest.index(env={"HKCANTO_AUTOLOAD": "0"})
        assert BUILT_IN in index.yaml
        assert TASK not in index.yaml

    def test_yield_to_a_users_task_of_the_same_name(
        self, installed: Environment, each_release: Path, tmp_path: Path
    ) -> None:
        mine = write_task(tmp_path)
        index = installed.using(each_release).index(include_path=str(tmp_path))
        assert index.yaml[TASK] == mine
        assert index.include_path == str(tmp_path)

    def test_yield_to_any_of_a_users_folders(
        self, installed: Environment, each_release: Path, tmp_path: Path
    ) -> None:
        other, mine = write_task(tmp_path / "a", "other"), write_task(tmp_path / "b")
        folders = [str(tmp_path / "a"), str(tmp_path / "b")]
        index = installed.using(each_release).index(include_path=folders)
        assert (index.yaml["other"], index.yaml[TASK]) == (other, mine)
        assert index.include_path == folders

    def test_win_over_a_built_in_task_of_the_same_name(
        self, installed: Environment, each_release: Path, tmp_path: Path
    ) -> None:
        lm_eval = shutil.copytree(each_release, tmp_path / "lm_eval")
        write_task(lm_eval / "lm_eval/tasks/arc")
        index = installed.using(lm_eval).index()
        assert is_ours(installed, index.yaml[TASK])
        assert index.overridden == [TASK]

    def test_stay_away_where_the_user_wants_their_own_only(
        self, installed: Environment, each_release: Path, tmp_path: Path
    ) -> None:
        write_task(tmp_path, "other")
        environment = installed.using(each_release)
        index = environment.index(include_path=str(tmp_path), include_defaults=False)
        assert set(index.yaml) == {"other"}

    def test_are_not_scanned_twice_when_the_user_names_our_folder(
        self, newest: Environment
    ) -> None:
        index = newest.index(include_path=str(our_folder(newest) / ".." / "tasks"))
        assert is_ours(newest, index.yaml[TASK])
        assert index.overridden == []

    def test_are_not_scanned_twice_by_an_lm_eval_that_reads_the_entry_point(
        self, installed: Environment, upstream: Path
    ) -> None:
        for autoload in ("1", "0"):
            index = installed.using(upstream).index(env={"HKCANTO_AUTOLOAD": autoload})
            assert is_ours(installed, index.yaml[TASK])
            assert index.overridden == []

    def test_are_found_without_the_hook_by_the_documented_option(
        self, installed: Environment, each_release: Path
    ) -> None:
        command = "from hkcanto_tasks.cli import app; app(['path'])"
        folder = installed.run(command)
        environment, off = installed.using(each_release), {"HKCANTO_AUTOLOAD": "0"}
        assert TASK not in environment.index(env=off).yaml
        index = environment.index(include_path=folder, env=off)
        assert is_ours(installed, index.yaml[TASK])

    def test_that_cannot_be_read_are_named_before_lm_eval_says_they_are_not_found(
        self, installed: Environment, each_release: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "benchmark.toml").write_text("name = 'quiz'\n", encoding="utf-8")
        done = installed.using(each_release).start(
            *("-m", "lm_eval", "--model", "dummy", "--tasks", "quiz"),
            HKCANTO_BENCHMARKS=str(tmp_path),
            HKCANTO_CACHE=str(tmp_path / "cache"),
        )
        why = f"A benchmark is left out: {tmp_path}/benchmark.toml has 4 problems:"
        assert done.returncode != 0
        assert done.stderr.count(why) == 1
        assert done.stderr.count("it lacks title") == 1
        unknown = re.search(
            "Tasks not found: quiz|Spec 'quiz' is not a registered", done.stderr
        )
        assert unknown
        assert done.stderr.index(why) < unknown.start()

    def test_are_added_to_an_lm_eval_imported_before(
        self, installed: Environment, each_release: Path
    ) -> None:
        late = (
            "import os, lm_eval.tasks\n"
            "del os.environ['HKCANTO_AUTOLOAD']\n"
            "from hkcanto_lm_eval._autoload import install\n"
            "install()\n"
        )
        environment = installed.using(each_release)
        index = environment.index(first=late, env={"HKCANTO_AUTOLOAD": "0"})
        assert is_ours(installed, index.yaml[TASK])
        assert index.overridden == []


@pytest.mark.slow
class TestTasksFromOutside:
    """Benchmarks named by `HKCANTO_BENCHMARKS`, for which lm-eval has no file."""

    QUIZ = "yue_benchmark_arc_c"

    @pytest.fixture
    def places(self, tmp_path: Path) -> dict[str, str]:
        """Variables for the examples' benchmarks, and for the folders where files could appear."""
        home = tmp_path / "home"
        home.mkdir()
        folders = dict.fromkeys(
            ("HOME", "TMPDIR", "XDG_CACHE_HOME", "HKCANTO_CACHE"), str(home)
        )
        examples = REPOSITORY / "hkcanto_tasks/sets"
        return {
            "HKCANTO_BENCHMARKS": str(examples),
            "HKCANTO_DATA": "sample",
            **folders,
        }

    def test_are_found_and_have_no_file(
        self, installed: Environment, each_release: Path, places: dict[str, str]
    ) -> None:
        environment = installed.using(each_release)
        index = environment.index(env=places)
        names = {
            self.QUIZ,
            "yue_benchmark_mmlu",
            "yue_benchmark_mmlu_arts",
            "yue_benchmark_mmlu_by_subject",
        }
        assert {index.yaml[name] for name in names} <= {"-1", "None"}
        assert is_ours(installed, index.yaml[TASK])
        assert not [*Path(places["HOME"]).iterdir()]

    def test_are_listed_validated_and_run(
        self, installed: Environment, each_release: Path, places: dict[str, str]
    ) -> None:
        environment = installed.using(each_release)
        listed = environment.start("-m", "lm_eval", "ls", "tasks", **places)
        assert f"|{self.QUIZ} " in listed.stdout, listed.stderr
        asked = ("--tasks", f"{self.QUIZ},yue_benchmark_mmlu_by_subject")
        validated = environment.start("-m", "lm_eval", "validate", *asked, **places)
        assert "All tasks found and valid" in validated.stdout, validated.stderr
        code = (
            "import json\n"
            "from lm_eval import simple_evaluate\n"
            "from lm_eval.tasks import TaskManager\n"
            "from lm_eval.models.dummy import DummyLM\n"
            "class Model(DummyLM):\n"
            "    tokenizer = None\n"
            "results = simple_evaluate(Model(), tasks=['yue_benchmark_arc_c',\n"
            "    'yue_benchmark_mmlu_by_subject'],\n"
            "    bootstrap_iters=0, limit=1, task_manager=TaskManager())\n"
            "print(json.dumps([results['configs'], results['groups']], default=str))\n"
        )
        printed = environment.run(code, **places, HF_HUB_OFFLINE="1")
        configs, groups = json.loads(printed.splitlines()[-1])
        assert configs[self.QUIZ]["metadata"]["signature"].startswith(
            "yue-benchmark-arc-c|"
        )
        assert {
            "yue_benchmark_mmlu_arts",
            "yue_benchmark_mmlu_by_subject::yue_benchmark_mmlu_arts",
        } & configs.keys()  # in 0.5
        assert "acc,none" in groups["yue_benchmark_mmlu_by_subject"]
        home = Path(places["HOME"])
        assert [
            path for path in home.rglob("*") if path.suffix in (".py", ".yaml")
        ] == []

    def test_yield_to_a_users_task_and_win_over_a_built_in_one(
        self,
        installed: Environment,
        each_release: Path,
        places: dict[str, str],
        tmp_path: Path,
    ) -> None:
        lm_eval = shutil.copytree(each_release, tmp_path / "lm_eval")
        write_task(lm_eval / "lm_eval/tasks/arc", self.QUIZ)
        mine = write_task(tmp_path / "mine", self.QUIZ)
        environment = installed.using(lm_eval)
        index = environment.index(env=places)
        assert index.yaml[self.QUIZ] in ("-1", "None")
        assert f"{self.QUIZ} is the catalogue's task of that name" in index.log
        index = environment.index(env=places, include_path=str(tmp_path / "mine"))
        assert index.yaml[self.QUIZ] == mine

    def test_run_without_the_hook_as_a_module(
        self, newest: Environment, places: dict[str, str]
    ) -> None:
        env = {**places, "HKCANTO_AUTOLOAD": "0"}
        arguments = ("validate", "--tasks", self.QUIZ)
        assert newest.start("-m", "lm_eval", *arguments, **env).returncode == 1
        done = newest.start("-m", "hkcanto_lm_eval", *arguments, **env)
        assert (done.returncode, "All tasks found" in done.stdout) == (0, True), (
            done.stderr
        )


@pytest.mark.slow
class TestModel:
    def test_is_imported_only_when_asked_for(
        self, installed: Environment, each_release: Path
    ) -> None:
        code = (
            "import sys, lm_eval.tasks\n"
            "from lm_eval.api.registry import get_model\n"
            "get_model('dummy')\n"
            "print('hkcanto_lm_eval.models' in sys.modules)\n"
            "print(get_model('hkcanto-g2p'))\n"
        )
        assert installed.using(each_release).run(code).splitlines() == [
            "False",
            "<class 'hkcanto_lm_eval.models.RuleBasedG2P'>",
        ]

    def test_does_not_take_a_name_that_is_taken(self, newest: Environment) -> None:
        code = (
            "from lm_eval.api.registry import model_registry\n"
            "model_registry.register('hkcanto-g2p', target='lm_eval.models.dummy:DummyLM')\n"
            "import lm_eval.tasks\n"
            "print(model_registry.get('hkcanto-g2p').__name__)\n"
        )
        assert newest.run(code) == "DummyLM"

    def test_is_that_of_the_entry_point_where_lm_eval_reads_it(
        self, installed: Environment, upstream: Path
    ) -> None:
        load = "from lm_eval.api.registry import load_plugins, model_registry\n"
        load += "load_plugins('lm_eval.models', model_registry)\n"
        show = "print(model_registry.get('hkcanto-g2p').__name__)\n"
        code = load + "import lm_eval.tasks\n" + show
        for autoload in ("1", "0"):
            run = installed.using(upstream).run(code, HKCANTO_AUTOLOAD=autoload)
            assert run == "RuleBasedG2P"

    def test_survives_that_lm_eval_fails_to_read_the_entry_point(
        self, installed: Environment, upstream: Path
    ) -> None:
        """As in lm-eval #4203, where a failure is final for the process."""
        code = (
            "import lm_eval.api.registry as registry, lm_eval.tasks\n"
            "registry.md.entry_points = lambda **_: []\n"
            "registry.load_plugins('lm_eval.models', registry.model_registry)\n"
            "print(registry.get_model('hkcanto-g2p').__name__)\n"
        )
        assert installed.using(upstream).run(code) == "RuleBasedG2P"


@pytest.mark.slow
class TestAnotherLmEval:
    """Changes that no release has yet, but that a later one or another tool may bring."""

    IMPORT = "import lm_eval.tasks.manager\n"

    @pytest.fixture
    def with_tasks_module(
        self, alone: Environment, tmp_path: Path
    ) -> Callable[[str], Environment]:
        def write(source: str) -> Environment:
            (tmp_path / "lm_eval/tasks").mkdir(parents=True)
            (tmp_path / "lm_eval/__init__.py").touch()
            (tmp_path / "lm_eval/tasks/__init__.py").touch()
            (tmp_path / "lm_eval/tasks/manager.py").write_text(source, "utf-8")
            return alone.using(tmp_path)

        return write

    @pytest.mark.parametrize(
        "source",
        [
            "class TaskManager:\n    def __init__(self, of='mine'):\n        self.of = of\n",
            "class Manager:\n    of = 'mine'\ndef TaskManager():\n    return Manager()\n",
            "class TaskManager:\n    __slots__ = ()\n    of = 'mine'\n",
        ],
    )
    def test_that_we_do_not_understand_stays_as_it_is(
        self, with_tasks_module: Callable[[str], Environment], source: str
    ) -> None:
        environment = with_tasks_module(source)
        assert (
            environment.run(
                self.IMPORT + "print(lm_eval.tasks.manager.TaskManager().of)"
            )
            == "mine"
        )
        debug = "import logging; logging.basicConfig(level=logging.DEBUG)\n"
        assert "could not register with lm-eval (_autoload.add_tasks)" in (
            environment.start("-c", debug + self.IMPORT).stderr
        )

    def test_that_cannot_be_imported_says_so_itself(
        self, with_tasks_module: Callable[[str], Environment]
    ) -> None:
        done = with_tasks_module("import lm_eval.nowhere").start("-c", self.IMPORT)
        assert "No module named 'lm_eval.nowhere'" in done.stderr.splitlines()[-1]

    def test_is_patched_when_a_first_import_failed(
        self, with_tasks_module: Callable[[str], Environment]
    ) -> None:
        environment = with_tasks_module(
            "import sys\n"
            "if not hasattr(sys, 'ready'): raise ImportError('not yet')\n"
            "class TaskIndex:\n"
            "    def build(paths): ...\n"
            "class TaskManager:\n"
            "    def match_tasks(self, names): ...\n"
        )
        first = f"import sys\ntry:\n    {self.IMPORT.strip()}\nexcept ImportError: sys.ready = 1\n"
        code = "print(hasattr(lm_eval.tasks.manager.TaskManager.match_tasks, '__wrapped__'))\n"
        assert environment.run(first + self.IMPORT + code) == "True"

    def test_keeps_its_source_and_loader(
        self, with_tasks_module: Callable[[str], Environment]
    ) -> None:
        environment = with_tasks_module("class TaskManager:\n    'Mine.'\n")
        code = "import inspect; m = lm_eval.tasks.manager\n"
        code += "print(type(m.__loader__), inspect.getsource(m))"
        shown = environment.run(self.IMPORT + code)
        assert "SourceFileLoader" in shown
        assert "'Mine.'" in shown

    def test_is_patched_once_where_another_hook_asks_all_finders_too(
        self, with_tasks_module: Callable[[str], Environment]
    ) -> None:
        environment = with_tasks_module(
            "class TaskIndex:\n"
            "    def build(paths): ...\n"
            "class TaskManager:\n"
            "    def match_tasks(self, names): ...\n"
        )
        other = (
            "import sys\n"
            "class Other:\n"
            "    def find_spec(self, *wanted):\n"
            "        for finder in sys.meta_path:\n"
            "            if finder is not self and (spec := finder.find_spec(*wanted)):\n"
            "                return spec\n"
            "sys.meta_path.insert(1, Other())\n"
        )
        code = "match = lm_eval.tasks.manager.TaskManager.match_tasks\n"
        code += "print(hasattr(match, '__wrapped__'), hasattr(match.__wrapped__, '__wrapped__'))\n"
        assert environment.run(other + self.IMPORT + code) == "True False"


@pytest.mark.slow
class TestInstallation:
    @pytest.fixture
    def empty(self, tmp_path: Path) -> Environment:
        """An environment with all dependencies but without our package."""
        return create_environment(tmp_path / "venv", dependencies=True)

    def test_editable_finds_the_tasks_in_the_repository(
        self, empty: Environment, release: Callable[[str], Path]
    ) -> None:
        index = install_editable(empty).using(release(NEWEST)).index()
        tasks = REPOSITORY / "lm_eval_tasks/hkcanto_lm_eval/tasks"
        assert Path(index.yaml[TASK]).is_relative_to(tasks)

    def test_uninstalling_leaves_nothing(
        self, empty: Environment, wheels: list[Path], release: Callable[[str], Path]
    ) -> None:
        before = set(empty.folder.rglob("*"))
        install(empty, *wheels)
        assert empty.run(HOOKS) == "1"
        uninstall(empty, "hkcanto", "hkcanto-lm-eval")
        assert set(empty.folder.rglob("*")) == before
        index = empty.using(release(NEWEST)).index()
        assert BUILT_IN in index.yaml
        assert not [name for name in index.yaml if "hkcanto" in name]

    def test_a_hook_that_is_left_behind_is_silent(
        self, empty: Environment, wheels: list[Path]
    ) -> None:
        uninstall(install(empty, *wheels), "hkcanto")
        done = empty.start("-c", "print('started')")
        assert (done.stdout, done.stderr) == ("started\n", "")

    def test_only_the_small_wheel_runs_something_at_start(
        self, empty: Environment, wheels: list[Path], release: Callable[[str], Path]
    ) -> None:
        (main,) = [wheel for wheel in wheels if wheel.name.startswith("hkcanto-")]
        with zipfile.ZipFile(main) as archive:
            names = archive.namelist()
        assert not [name for name in names if name.endswith((".pth", ".start"))]
        install(empty, main)
        assert empty.run(HOOKS) == "0"
        for switch, hooks in (("on", "1"), ("on", "1"), ("off", "0"), ("off", "0")):
            done = empty.start("-c", COMMAND, "autoload", switch)
            assert done.returncode == 0, done.stderr
            assert empty.run(HOOKS) == hooks
        empty.start("-c", COMMAND, "autoload", "on")
        assert TASK in empty.using(release(NEWEST)).index().yaml
        install(empty, *wheels)
        done = empty.start("-c", COMMAND, "autoload", "off")
        assert "pip uninstall hkcanto-lm-eval" in done.stderr

    def test_a_package_half_removed_does_not_stop_lm_eval(
        self, empty: Environment, wheels: list[Path], release: Callable[[str], Path]
    ) -> None:
        install(empty, *wheels)
        (empty.site_packages / "hkcanto_lm_eval/__init__.py").unlink()
        assert empty.run(HOOKS) == "1"
        index = empty.using(release(NEWEST)).index()
        assert BUILT_IN in index.yaml
        assert "hkcanto" not in index.log


def test_the_command_writes_the_files_of_the_distribution() -> None:
    files = {file.name: file.read_text("utf-8") for file in HOOK.glob("hkcanto*")}
    assert files == FILES
    projects = []
    for folder in (HOOK, REPOSITORY):
        content = (folder / "pyproject.toml").read_text("utf-8")
        projects.append(tomllib.loads(content)["project"])
    assert projects[0]["name"] == DISTRIBUTION
    assert projects[0]["version"] == projects[1]["version"]


def test_a_second_installation_in_a_process_adds_no_hook_and_no_model() -> None:
    install_hook()
    before = [*sys.meta_path], registry.model_registry.keys()
    install_hook()
    assert ([*sys.meta_path], registry.model_registry.keys()) == before
    assert "hkcanto-g2p" in registry.model_registry


def test_only_errors_of_ours_reach_lm_eval(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(error: Exception) -> None:
        raise error

    monkeypatch.setattr(index, "with_our_folder", fail)
    assert attempt("index.with_our_folder", ValueError("a bug of ours")) is None
    with pytest.raises(OptionError, match="what a user should know"):
        attempt("index.with_our_folder", OptionError("what a user should know"))
