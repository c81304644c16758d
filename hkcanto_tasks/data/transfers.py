"""Files over HTTP: several side by side, within limits of time and size.

A busy server is asked again when it says so. Other failures are not tried twice: someone without a
network hears so at once, and the files that did arrive stay for the next run. (pooch and
huggingface_hub limit neither the time nor the unpacked size of a file, and pooch ignores
`Retry-After`.)
"""

import logging
import math
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO

from ..errors import DataCorrupt

_log = logging.getLogger("hkcanto")

_CONNECTIONS = 8
# Seconds for a connection to open, and for each wait for more bytes.
_CONNECT_TIMEOUT, _READ_TIMEOUT = 3.05, 10.0
# A file may take so many seconds, and one more for each of so many bytes that have come.
_GRACE, _SLOWEST = 20.0, 1024
_CHUNK = 8 * 1024  # the granularity of that, so less than the grace's worth
_LARGEST = 100 * 1024**2  # GitHub's own limit; of a hub's files the size is known
_BUSY = (429, 503)
TRIES = 5  # of a busy server
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 120.0  # seconds
_POLL = 0.1


class _Together:
    """What the transfers of one call share: whether to stop, and how long the server wants rest."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self._until = 0.0

    def rest(self) -> None:
        """Wait as long as the server wants, unless all is to stop."""
        while not self.stopped.is_set() and (seconds := self._until - time.monotonic()) > 0:
            self.stopped.wait(seconds)
        if self.stopped.is_set():
            raise InterruptedError

    def extend(self, seconds: float, why: str) -> None:
        """Have all wait, and say so once."""
        now, before = time.monotonic(), self._until
        self._until = max(before, now + seconds)
        if before < now:
            _log.warning("%s; asking again in %.0f s.", why, seconds)


@dataclass(eq=False)
class Transfer:
    """A file to be had, and how far it has come.

    Attributes:
        url: Where from, without a password.
        path: Where to; without one it is kept in `content`.
        size: Its size in bytes, where that is known.
        headers: The request's headers.
        auth: The user and password that the server wants, if any.
        tries: How often a busy server is asked.
        content: The file, if it has no path.
        received: How many bytes have come, unpacked.
        started: When the request was made, by the monotonic clock; infinity while none is out.
        error: Why it did not come.
    """

    url: str
    path: Path | None = None
    size: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: tuple[str, str] | None = None
    tries: int = TRIES
    content: BytesIO = field(default_factory=BytesIO)
    received: int = 0
    started: float = math.inf
    error: Exception | None = None
    _file: IO[bytes] = field(init=False, repr=False)
    _together: _Together = field(init=False, repr=False)

    @property
    def overdue(self) -> bool:
        """Whether it comes too slowly to be waited for."""
        return time.monotonic() - self.started > _GRACE + self.received / _SLOWEST

    def run(self, together: _Together) -> None:
        """Download it, unless told to stop."""
        self._together = together
        try:
            with self.path.open("wb") if self.path else nullcontext(self.content) as self._file:
                while not self._arrives():
                    self.tries -= 1
            if self.size not in (None, self.received):
                raise OSError(f"it broke off after {self.received:,} of {self.size:,} bytes")
        except Exception as error:  # the caller's thread deals with it
            self.error = error
        self.started = math.inf

    def write(self, chunk: bytes) -> None:
        """Take what has come: to the downloader this is the file."""
        if self._together.stopped.is_set():
            raise InterruptedError
        self.received += len(chunk)
        most = _LARGEST if self.size is None else self.size
        if self.received > most:
            raise DataCorrupt(
                f"{self.url} is more than {most:,} bytes when unpacked, so it is not the file"
                " wanted. It was not kept. Check the mirror and the proxy that you have set, or set"
                " HKCANTO_DATA_DIR=<dir> to use a copy."
            )
        self._file.write(chunk)

    def flush(self) -> None:
        """Do nothing: closing the file does it."""

    def _arrives(self) -> bool:
        """Ask for it; False if the server is busy and to be asked again."""
        from pooch import HTTPDownloader
        from requests import HTTPError

        timeout = (_CONNECT_TIMEOUT, _READ_TIMEOUT)
        asked = {"headers": self.headers, "auth": self.auth}
        get = HTTPDownloader(timeout=timeout, chunk_size=_CHUNK, **asked)
        self._together.rest()
        self.started = time.monotonic()
        try:
            get(self.url, self, None)
        except HTTPError as error:
            answer = error.response
            if answer is None or answer.status_code not in _BUSY or self.tries <= 1:
                raise
            status = answer.status_code
            wait = _retry_after(answer.headers) or _FIRST_WAIT * 2 ** (TRIES - self.tries)
            if wait > _LONGEST_WAIT:
                raise OSError(f"HTTP {status}, to be asked again in {wait:,.0f} s") from error
            self.started = math.inf
            self._together.extend(wait, f"{self.url} is busy (HTTP {status})")
            return False
        return True


def receive(transfers: Sequence[Transfer]) -> Generator[Transfer, None, None]:
    """Download files side by side, and yield each as it has come, or has failed.

    The threads are not waited for when one stays silent: they end by themselves, or with the
    process, and what they still write is in files that nobody has.
    """
    waiting: SimpleQueue[Transfer] = SimpleQueue()
    done: SimpleQueue[Transfer] = SimpleQueue()
    together = _Together()
    for each in transfers:
        waiting.put(each)

    def work() -> None:
        while not together.stopped.is_set():
            try:
                each = waiting.get_nowait()
            except Empty:
                return
            each.run(together)
            done.put(each)

    threads = [threading.Thread(target=work, daemon=True) for _ in transfers[:_CONNECTIONS]]
    for thread in threads:
        thread.start()
    try:
        left = len(transfers)
        while left:
            try:
                each = done.get(timeout=_POLL)
            except Empty:
                slow = next((each for each in transfers if each.overdue), None)
                if not slow:
                    continue
                each, waited = slow, f"{slow.received:,} bytes in more than {_GRACE:.0f} s"
                each.error = OSError(f"it came too slowly, {waited}")
            left -= 1
            yield each
    finally:
        together.stopped.set()
        for thread in threads:
            thread.join(_POLL)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Read how many seconds a server asks to wait, as a number or a date; None if it does not."""
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    try:
        return float(Retry().parse_retry_after(headers.get("Retry-After", "")))
    except InvalidHeader:
        return None
