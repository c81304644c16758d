"""Make lm-eval find our tasks and our model by name, without a command-line option.

lm-eval up to 0.5.0.dev1 looks for tasks only in its own folder and under ``--include_path``, and
its models are a fixed list. Upstream is adding support for entry points (models: PR #4013, merged;
tasks: PR #4015, proposed), and we declare ours. For releases without that support, the distribution
``hkcanto-lm-eval`` (`lm_eval_tasks/hook`), or ``hkcanto autoload on``, installs
``hkcanto_lm_eval.pth`` (for Python 3.15 on ``hkcanto_lm_eval.start``, PEP 829), which calls `install`
when an interpreter starts: a finder on ``sys.meta_path`` waits for lm-eval's `TaskManager`, adds our
folder and our model, and then removes itself. Tasks without a file, those of benchmarks from outside,
are added to lm-eval's index in memory. ``HKCANTO_AUTOLOAD=0`` switches this off.

Every interpreter loads this module, and most never import lm-eval. So it imports only ``sys`` until
that module of lm-eval is imported.
"""

import sys

# Importing `typing` would cost more than the rest of the hook; type checkers know the name anyway.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

# Reasons why registering our tasks or model with lm-eval failed, for `hkcanto doctor`.
failures: "list[BaseException]" = []
MODEL = "hkcanto-g2p"
_MODULE = "lm_eval.tasks.manager"


def install() -> None:
    """Register our tasks and our model with lm-eval, now or when its `TaskManager` is imported.

    Does nothing if the environment variable ``HKCANTO_AUTOLOAD`` is 0, false, no or off, or if this
    or another copy of the package is already installed. It does not import lm-eval.
    """
    import os

    switch = os.environ.get("HKCANTO_AUTOLOAD", "").strip().lower()
    if switch in ("0", "false", "no", "off") or is_installed():
        return
    if _MODULE in sys.modules:
        patch(sys.modules[_MODULE])
    else:
        sys.meta_path.insert(0, LmEvalFinder())


def is_installed() -> bool:
    """Return whether our tasks are registered with lm-eval, or will be when it is imported."""
    carriers: list[Any] = [*sys.meta_path, sys.modules.get(_MODULE)]
    return any(hasattr(carrier, "hkcanto_autoload") for carrier in carriers)


class LmEvalFinder:
    """A finder that has the other finders find lm-eval's `TaskManager`, and patches its module.

    Examples:
        >>> LmEvalFinder().find_spec("json") is None
        True
    """

    hkcanto_autoload = True

    def find_spec(
        self,
        name: str,
        *_: "Any",
    ) -> "ModuleSpec | None":
        """Return the other finders' spec of the module, and ``None`` for all other modules."""
        if name != _MODULE:
            return None
        # On None, the import system asks the other finders itself and reports the result.
        return attempt("_autoload.patched_spec", self)  # type: ignore[no-any-return]


def patched_spec(finder: LmEvalFinder) -> "ModuleSpec | None":
    """Return the spec of lm-eval's module, which is patched as soon as it has executed.

    Args:
        finder: The finder, which is not asked itself, and removed when the module has executed.
    """
    from importlib.util import find_spec

    sys.meta_path.remove(finder)
    if (spec := find_spec(_MODULE)) is None:
        return None
    sys.meta_path.insert(0, finder)
    # Only this one method is replaced. A loader of our own would hide the source and the resources
    # of lm-eval's modules from tools that ask the loader for them.
    loader: Any = spec.loader
    execute = loader.exec_module

    def exec_module(module: "ModuleType") -> None:
        execute(module)
        sys.meta_path.remove(finder)
        patch(module)

    loader.exec_module = exec_module
    return spec


def patch(module: "ModuleType") -> None:
    """Register our tasks and our model; an lm-eval that we do not know stays as it is.

    Args:
        module: The module of lm-eval's `TaskManager`.
    """
    setattr(module, "hkcanto_autoload", True)  # noqa: B010
    for register in ("add_tasks", "add_model"):
        attempt(f"_autoload.{register}", module)


def attempt(function: str, *arguments: "Any") -> "Any":
    """Import and call a function; log a failure at debug level, because it must not disturb lm-eval.

    Args:
        function: `module.name` of a function in this package.
        arguments: Its arguments.

    Raises:
        HKCantoError: Data or an option of our tasks is wrong, which the user should know.
    """
    try:
        from importlib import import_module

        module, _, name = function.partition(".")
        return getattr(import_module(f"hkcanto_lm_eval.{module}"), name)(*arguments)
    except Exception as error:
        if "HKCantoError" in [base.__name__ for base in type(error).__mro__]:
            raise
        import logging

        failures.append(error)
        log = logging.getLogger("hkcanto_lm_eval")
        log.debug(
            "hkcanto could not register with lm-eval (%s)", function, exc_info=True
        )


def add_tasks(module: "ModuleType") -> None:
    """Make ``TaskIndex`` scan our folder, too, and ``TaskManager`` check our tasks.

    If two tasks have the same name, ours wins over the built-in one, and one in the user's
    ``include_path`` wins over both. With ``include_defaults=False`` the user wants only their own
    tasks, so ours are not added. A later lm-eval that reads our entry point has our folder in the
    list already, so nothing is added, whatever its version.

    The command line calls ``match_tasks`` before it loads the model, which may take minutes, and
    creates the tasks after it. So the data of the tasks is loaded and their requirements are
    checked there; `CatalogueTask` takes the loaded task from `before_model`.
    """
    from functools import wraps
    from pathlib import Path

    index = module.TaskIndex
    manager = module.TaskManager
    build = index.build
    match = manager.match_tasks
    builtin = Path(str(module.__file__)).parent

    @wraps(build)
    def build_with_ours(
        paths: "Iterable[Any]",
        *args: "Any",
        **kwargs: "Any",
    ) -> "Any":
        folders = [*paths]
        folders = attempt("index.with_our_folder", folders, builtin) or folders
        entries = build(folders, *args, **kwargs)
        entry = index.entry_from_config
        attempt(
            "index.add_from_outside",
            entries,
            folders,
            builtin,
            entry,
        )
        return entries

    @wraps(match)
    def match_and_check(self: "Any", task_list: "list[str]") -> "list[str]":
        names: list[str] = match(self, task_list)
        if not names:
            attempt("before_model.suggest", self, task_list)
        attempt("before_model.preload", self, names)
        return names

    index.build = staticmethod(build_with_ours)
    manager.match_tasks = match_and_check


def add_model(_: "ModuleType") -> None:
    """Register the rule-based grapheme-to-phoneme model, which is imported on first use."""
    import lm_eval.models  # noqa: F401  (registers its own, which it does only while there are none)
    from lm_eval.api import registry

    # An lm-eval that reads our entry point in `lm_eval.models` skips a name that is taken. It may
    # fail to read it, and then does not try again (lm-eval #4203).
    if MODEL not in registry.model_registry:
        registry.model_registry.register(
            MODEL, target="hkcanto_lm_eval.models:RuleBasedG2P"
        )
