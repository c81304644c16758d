"""Make lm-eval find our tasks and our model by name, without a command-line option.

lm-eval up to 0.4.13 looks for tasks only in its own folder and under ``--include_path``, and its
models are a fixed list. Upstream is adding support for entry points (models: PR #4013, merged;
tasks: PR #4015, proposed), and we declare ours. For releases without that support, ``hkcanto.pth``
calls `install` when an interpreter starts: a finder on ``sys.meta_path`` waits for three modules of
lm-eval, and adds our folder and our model after they have executed. Tasks without a file, such as
those of benchmarks from outside, are added to lm-eval's index in memory. ``HKCANTO_AUTOLOAD=0``
switches this off.

Every interpreter loads this module, and most never import lm-eval. So it imports only ``sys`` until
a module of lm-eval is imported.
"""

import sys

# Importing `typing` would cost more than the rest of the hook; type checkers know the name anyway.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from importlib.machinery import ModuleSpec
    from os import PathLike
    from pathlib import Path
    from types import ModuleType
    from typing import Any

    Folder = str | PathLike[str]

failures: "list[BaseException | None]" = []
"""Reasons why registering our tasks or model with lm-eval failed, for `hkcanto doctor`."""

MODEL = "hkcanto-g2p"
MODEL_CLASS = "hkcanto_lm_eval.models:RuleBasedG2P"
SCORER = "hkcanto_choice"
SCORER_CLASS = "hkcanto_lm_eval.scorer:ChoiceScorer"


def install() -> None:
    """Register our tasks and our model with lm-eval, now or when it is imported.

    Does nothing if the environment variable ``HKCANTO_AUTOLOAD`` is 0, false, no or off, or if this
    or another copy of the package is already installed. It does not import lm-eval.
    """
    import os

    if os.environ.get("HKCANTO_AUTOLOAD", "").strip().lower() in ("0", "false", "no", "off"):
        return
    if any(hasattr(finder, "hkcanto_autoload") for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, LmEvalFinder())
    for name in PATCHES:
        if name in sys.modules:
            patch(sys.modules[name])


class LmEvalFinder:
    """A finder that lets the other finders find the modules in `PATCHES`, and patches the modules.

    Examples:
        >>> LmEvalFinder().find_spec("json") is None
        True
    """

    hkcanto_autoload = True

    def __init__(self) -> None:
        self._searching: set[str] = set()

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        """Return the other finders' spec of a module in `PATCHES`; ``None`` for other modules."""
        if sys.meta_path[0] is not self and self in sys.meta_path:
            # pytest's finder, which rewrites asserts, comes first and does not ask other finders.
            sys.meta_path.remove(self)
            sys.meta_path.insert(0, self)
        # The name is already being searched for: another finder asks all finders, as we do.
        if name not in PATCHES or name in self._searching:
            return None
        self._searching.add(name)
        try:
            for finder in sys.meta_path:
                spec = None if finder is self else finder.find_spec(name, path, target)
                if spec is not None:
                    patch_when_executed(spec)
                    return spec
        except Exception:
            # On None, the import system asks the other finders itself and reports the result.
            log_failure(name)
        finally:
            self._searching.discard(name)
        return None


def patch_when_executed(spec: "ModuleSpec") -> None:
    """Arrange for the module of `spec` to be patched as soon as it has executed."""
    # Only this one method is replaced. A loader of our own would hide the source and the resources
    # of lm-eval's modules from tools that ask the loader for them.
    loader: Any = spec.loader
    execute = loader.exec_module

    def exec_module(module: "ModuleType") -> None:
        if module.__name__ == spec.name and vars(loader).get("exec_module") is exec_module:
            del loader.exec_module  # pytest's loader, which rewrites asserts, is shared by all
        execute(module)
        if module.__name__ == spec.name:
            patch(module)

    loader.exec_module = exec_module


def patch(module: "ModuleType") -> None:
    """Apply `PATCHES` to a module of lm-eval; a module that we do not understand is left alone."""
    try:
        if module.__name__ in PATCHES:
            PATCHES[module.__name__](module)
    except Exception:
        log_failure(module.__name__)


def log_failure(name: str) -> None:
    """Log the current exception at debug level: our failure must not disturb lm-eval."""
    import logging

    failures.append(sys.exc_info()[1])

    logging.getLogger("hkcanto_lm_eval").debug(
        "hkcanto could not register with %s; lm_eval --include_path still works",
        name,
        exc_info=True,
    )


def add_task_folder(module: "ModuleType") -> None:
    """Make the ``TaskManager`` defined in `module` scan our folder, too.

    If two tasks have the same name, ours wins over the built-in one, and one in the user's
    ``include_path`` wins over both. With ``include_defaults=False`` the user wants only their own
    tasks, so ours are not added.
    """
    from pathlib import Path

    if module.TaskManager.__module__ != module.__name__:
        return  # 0.4.12+: lm_eval.tasks imports it from lm_eval.tasks.manager
    builtin = Path(str(module.__file__)).parent
    check_before_the_model(module.TaskManager)
    index = getattr(module, "TaskIndex", None)
    if index and isinstance(vars(index).get("build"), staticmethod):
        add_to_index(index, builtin)
    else:
        add_to_include_path(module.TaskManager, builtin)


def check_before_the_model(manager: "Any") -> None:
    """Make the command line's own call of `match_tasks` also check the requirements of our tasks.

    That call comes before the model is loaded, which may take minutes; tasks are created after it.
    """
    from functools import wraps

    if not (match := getattr(manager, "match_tasks", None)):
        return

    @wraps(match)
    def match_and_check(self: "Any", task_list: "list[str]") -> "list[str]":
        found: list[str] = match(self, task_list)
        try:
            import hkcanto_lm_eval
            from hkcanto_lm_eval.before_model import check

            index = self.task_index if hasattr(self, "task_index") else self._task_index
            asked = getattr(self, "metadata", None) or hkcanto_lm_eval.run_metadata
            check({name: index.get(name) for name in found}, asked)
        except Exception as error:
            if any(kind.__name__ == "HKCantoError" for kind in type(error).__mro__):
                raise
            log_failure("lm_eval.tasks")
        return found

    manager.match_tasks = match_and_check


def add_to_index(index: "Any", builtin: "Path") -> None:
    """Add our tasks, and our folder, to those that ``TaskIndex.build`` of lm-eval 0.4.12+ scans.

    A later lm-eval that reads our entry point must have its folder in this list, too;
    `with_our_folder` sees it there and adds nothing. So there is no need to guess from a version,
    or from private names, whether lm-eval reads the entry point.
    """
    from functools import wraps

    build = index.build

    @wraps(build)
    def build_with_ours(paths: "Iterable[Folder]", *args: "Any", **kwargs: "Any") -> "Any":
        folders = with_our_folder(list(paths), builtin)
        found = build(folders, *args, **kwargs)
        try:
            from hkcanto_lm_eval.memory import add_to

            add_to(found, folders, builtin, index.entry_from_config)
        except Exception:
            log_failure("lm_eval.tasks")
        return found

    index.build = staticmethod(build_with_ours)


def add_to_include_path(manager: "Any", builtin: "Path") -> None:
    """Add our folder to the ``include_path`` of lm-eval 0.4.11, which has no ``TaskIndex``."""
    from functools import wraps
    from inspect import signature

    initialize = manager.__init__
    interface = signature(initialize)
    if not {"include_path", "include_defaults"} <= set(interface.parameters):
        raise TypeError(f"TaskManager{interface} has no include_path and include_defaults")

    @wraps(initialize)
    def initialize_with_ours(self: "Any", *args: "Any", **kwargs: "Any") -> None:
        call = interface.bind(self, *args, **kwargs)
        call.apply_defaults()
        given = call.arguments["include_path"]
        if call.arguments["include_defaults"]:
            user = list(given) if isinstance(given, list | tuple) else [given] if given else []
            call.arguments["include_path"] = with_our_folder([builtin, *user], builtin)[1:]
        import hkcanto_lm_eval

        hkcanto_lm_eval.run_metadata = dict(call.arguments.get("metadata") or {})
        initialize(*call.args, **call.kwargs)
        self.include_path = given

    manager.__init__ = initialize_with_ours
    if hasattr(manager, "initialize_tasks"):
        from hkcanto_lm_eval.memory import add_to_manager

        add_to_manager(manager, builtin)


def with_our_folder(folders: "list[Folder]", builtin: "Path") -> "list[Folder]":
    """Return `folders`, with ours after lm-eval's own if that is among them and ours is not."""
    try:
        from pathlib import Path

        from hkcanto_lm_eval import task_path

        present = [Path(folder).resolve() for folder in folders]
        ours = Path(task_path())
        if builtin.resolve() in present and ours.resolve() not in present:
            behind = present.index(builtin.resolve()) + 1
            folders = [*folders[:behind], ours, *folders[behind:]]
    except Exception:
        log_failure("lm_eval.tasks")
    return folders


def register_model(_: "ModuleType") -> None:
    """Register the rule-based grapheme-to-phoneme model, which is imported on first use."""
    from lm_eval.api import registry

    if hasattr(registry, "load_plugins"):
        return  # this lm-eval reads our entry point in lm_eval.models
    if MODEL not in registry.model_registry:
        registry.model_registry.register(MODEL, target=MODEL_CLASS)


def register_scorer(_: "ModuleType") -> None:
    """Register our answer extraction as a scorer of lm-eval 0.5, which is imported on first use."""
    from lm_eval.api import registry

    if SCORER not in registry.scorer_registry:
        registry.scorer_registry.register(SCORER, target=SCORER_CLASS)


PATCHES = {
    "lm_eval.tasks.manager": add_task_folder,
    "lm_eval.tasks": add_task_folder,
    "lm_eval.models": register_model,
    "lm_eval.scorers": register_scorer,
}
