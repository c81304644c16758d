"""Writing of files: drafts of all of them first, then each is moved into place."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from ...errors import OptionError, on_disk


def write(files: Mapping[str, str], folder: Path) -> None:
    """Write files into a folder, or none of them if there is no room.

    A process that is killed leaves each file whole, old or new. Links in the folder are not
    followed.

    Args:
        files: Path in the folder (with `/`) → text.
        folder: Created if it does not exist.

    Raises:
        OptionError: A folder within it is a link.
        DataNotFound: The operating system refuses.
    """
    with on_disk(folder, "written", "Give a folder that you can write to and that has room."):
        root = folder.resolve()
        for path in files:
            parent = (root / path).parent
            if parent != parent.resolve():
                raise OptionError(
                    f"{parent} is in a link, and links are not followed. Give a folder."
                )
        root.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".publish-", dir=root) as drafts:
            for path, text in files.items():
                draft = Path(drafts, path)
                draft.parent.mkdir(parents=True, exist_ok=True)
                draft.write_text(text, encoding="utf-8")
            for path in files:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                Path(drafts, path).replace(root / path)
