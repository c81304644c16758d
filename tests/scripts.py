"""Import the repository's scripts that are not in a package."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

REPOSITORY = Path(__file__).parents[1]


def load_script(path: str) -> ModuleType:
    """Load a script by its path in the repository, such as `docs/generate.py`."""
    spec = spec_from_file_location(Path(path).stem, REPOSITORY / path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
