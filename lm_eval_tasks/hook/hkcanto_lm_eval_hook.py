"""Lets lm-eval find the tasks of hkcanto, if that is installed, when Python starts."""


def start() -> None:
    """Register the tasks with lm-eval as soon as it is imported."""
    try:
        from hkcanto_lm_eval._autoload import install
    except ImportError:  # hkcanto was uninstalled
        return
    install()
