"""The versions of lm-eval's groups, as attributes with their names.

The YAML file of a group reads its version here (`!function hkcanto_lm_eval.group_versions.NAME`),
so a raised version changes no files. A task gets its version from its class.
"""

from functools import cache

from hkcanto_tasks.catalogue import benchmarks

from .index import configurations, is_packaged


def __getattr__(name: str) -> int:
    try:
        return _versions()[name]
    except KeyError:
        raise AttributeError(f"lm-eval has no group {name!r} of ours") from None


@cache
def _versions() -> dict[str, int]:
    versions: dict[str, int] = {}
    for benchmark in filter(is_packaged, benchmarks()):
        for name, config in configurations(benchmark).items():
            if "group" in config:
                versions[name] = config["metadata"]["version"]
    return versions
