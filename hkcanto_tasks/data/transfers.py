"""Download files over HTTP, several in parallel, within limits of time and size.

A busy server is asked again at the time that it names. Other failures are not retried: without a
network the user learns it at once, and downloaded files are kept for the next run. (Neither pooch
nor huggingface_hub limits the time and the unpacked size of a download.)
"""

import logging
import math
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from pathlib import Path

from ..errors import DataCorrupt

_log = logging.getLogger("hkcanto")

_CONNECTIONS = 8
# Seconds to wait for a connection, and for more bytes.
_CONNECT_TIMEOUT, _READ_TIMEOUT = 3.05, 10.0
# A file may take _GRACE seconds, plus one second for every _SLOWEST bytes received.
_GRACE, _SLOWEST = 20.0, 1024
_CHUNK = 8 * 1024  # bytes between checks of the time; one chunk must fit into _GRACE
_LARGEST = 100 * 1024**2  # GitHub's own limit; a hub announces the size of its files
_BUSY = (429, 503)
TRIES = 5  # requests to a busy server
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 120.0  # seconds
_POLL = 0.1


@dataclass(eq=False)
class Transfer:
    """A file to download, and the progress of the download.

    Attributes:
        url: The source, without a password.
        path: The file to write to; without one, the content is kept in `content`.
        target: The final path of a complete and correct file.
        expected: The hash that it must have, if known; see `RecordedFile`.
        size: Its size in bytes, if known.
        headers: The request's headers.
        auth: The user and password for the server, if any.
        tries: How often a busy server is asked.
        content: The file's content, if it has no path.
        received: The number of unpacked bytes received.
        started: When the request was made, by the monotonic clock; infinity without a request.
        error: Why the download failed.
    """

    url: str
    path: Path = Path()
    target: Path = Path()
    expected: str = ""
    size: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: tuple[str, str] | None = None
    tries: int = TRIES
    content: BytesIO = field(default_factory=BytesIO)
    received: int = 0
    started: float = math.inf
    error: Exception | None = None

    @property
    def overdue(self) -> bool:
        """Whether the download is too slow to wait for."""
        return time.monotonic() - self.started > _GRACE + self.received / _SLOWEST

    def run(self, stopped: threading.Event, told: threading.Event) -> "Transfer":
        """Download the file, and return the transfer.

        Args:
            stopped: Set when the file is no longer needed.
            told: Set once the user has been told that the server is busy.
        """
        most = _LARGEST if self.size is None else self.size
        try:
            with self.path.open("wb") if self.path.name else nullcontext(self.content) as file:
                for chunk in self._chunks(stopped, told):
                    if stopped.is_set():
                        raise InterruptedError
                    self.received += len(chunk)
                    if self.received > most:
                        raise DataCorrupt(
                            f"{self.url} has more than {most:,} bytes when unpacked, so it is not"
                            " the right file. It was not kept. Check the mirror and the proxy that"
                            " you have set, or set HKCANTO_DATA_DIR=<dir> to use a copy."
                        )
                    file.write(chunk)
            if self.size not in (None, self.received):
                raise OSError(f"it broke off after {self.received:,} of {self.size:,} bytes")
        except Exception as error:  # the caller's thread deals with it
            self.error = error
        self.started = math.inf
        return self

    def _chunks(self, stopped: threading.Event, told: threading.Event) -> Iterator[bytes]:
        """Request the file, again while the server is busy, and yield what arrives."""
        import requests
        from urllib3.exceptions import InvalidHeader
        from urllib3.util import Retry

        get = partial(requests.get, timeout=(_CONNECT_TIMEOUT, _READ_TIMEOUT), stream=True)
        for tried in range(1, self.tries + 1):
            self.started = time.monotonic()
            with get(self.url, headers=self.headers, auth=self.auth) as answer:
                if answer.status_code not in _BUSY or tried == self.tries:
                    answer.raise_for_status()
                    yield from answer.iter_content(_CHUNK)
                    return
            wait, busy = _FIRST_WAIT * 2 ** (tried - 1), f"HTTP {answer.status_code}"
            with suppress(InvalidHeader):  # the header is neither a number of seconds nor a date
                wait = Retry().parse_retry_after(answer.headers.get("Retry-After", "")) or wait
            if wait > _LONGEST_WAIT:
                raise OSError(f"{busy}, retry after {wait:,.0f} s")
            if not told.is_set():
                told.set()
                _log.warning("%s is busy (%s); asking again in %.0f s.", self.url, busy, wait)
            self.started = math.inf
            stopped.wait(wait)


def receive(transfers: Sequence[Transfer]) -> Generator[Transfer, None, None]:
    """Download files in parallel, and yield each when it is complete or has failed.

    The thread of a server that stays silent is not waited for: it ends by itself or with the
    process, and writes only to temporary files.
    """
    from multiprocessing import TimeoutError as NothingYet
    from multiprocessing.pool import ThreadPool

    stopped, told = threading.Event(), threading.Event()
    pool = ThreadPool(_CONNECTIONS)
    arriving = pool.imap_unordered(lambda each: each.run(stopped, told), transfers)
    left = len(transfers)
    try:
        while left:
            try:
                each = arriving.next(_POLL)
            except NothingYet:
                if not (slow := [each for each in transfers if each.overdue]):
                    continue
                each, had = slow[0], f"{slow[0].received:,} bytes in more than {_GRACE:.0f} s"
                each.error = OSError(f"it was too slow: {had}")
            left -= 1
            yield each
    finally:
        stopped.set()
        pool.terminate()
