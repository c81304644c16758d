"""Files over HTTP: several side by side, within limits of time and size.

A busy server is asked again when it says so. Other failures are not tried twice: someone without a
network hears so at once, and the files that did arrive stay for the next run. (Neither
pooch nor huggingface_hub limits the time and the unpacked size of a file.)
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


@dataclass(eq=False)
class Transfer:
    """A file to be had, and how far it has come.

    Attributes:
        url: Where from, without a password.
        path: Where to; without one it is kept in `content`.
        target: Where it belongs once it is whole and as expected.
        expected: The hash that it must have, where that is known; see `RecordedFile`.
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
        """Whether it comes too slowly to be waited for."""
        return time.monotonic() - self.started > _GRACE + self.received / _SLOWEST

    def run(self, stopped: threading.Event, told: threading.Event) -> "Transfer":
        """Download it, and return it.

        Args:
            stopped: Set once nobody wants it any more.
            told: Set once the user knows that the server is busy.
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
                            f"{self.url} is more than {most:,} bytes when unpacked, so it is not"
                            " the file wanted. It was not kept. Check the mirror and the proxy that"
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
        """Ask for it, again while the server is busy, and yield what comes."""
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
            with suppress(InvalidHeader):  # neither a number of seconds nor a date
                wait = Retry().parse_retry_after(answer.headers.get("Retry-After", "")) or wait
            if wait > _LONGEST_WAIT:
                raise OSError(f"{busy}, to be asked again in {wait:,.0f} s")
            if not told.is_set():
                told.set()
                _log.warning("%s is busy (%s); asking again in %.0f s.", self.url, busy, wait)
            self.started = math.inf
            stopped.wait(wait)


def receive(transfers: Sequence[Transfer]) -> Generator[Transfer, None, None]:
    """Download files side by side, and yield each as it has come, or has failed.

    The threads are not waited for when one stays silent: they end by themselves, or with the
    process, and what they still write is in files that nobody has.
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
                each.error = OSError(f"it came too slowly, {had}")
            left -= 1
            yield each
    finally:
        stopped.set()
        pool.terminate()
