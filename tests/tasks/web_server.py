"""A local web server that can misbehave like real ones."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """The server's answer for one address."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    announced: int | None = None
    """Content-Length; None for the true one. With a larger one, the transfer breaks off."""
    hangs: bool = False
    """Whether it stops sending after half of the body."""
    drips: bool = False
    """Whether the whole answer, including headers, is sent one byte at a time."""
    endless: bool = False
    """Whether it sends spaces without an end."""
    first: Sequence["Answer"] = ()
    """Answers to the first requests, in order."""


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """Log nothing about clients that were killed."""


class WebServer:
    """Serves `answers` by path (without the query), or 404; counts requests."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.requests: Counter[str] = Counter()
        self.authorizations: set[str | None] = set()
        self.hanging = threading.Event()
        self._stop = threading.Event()
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server._respond(self)

            do_HEAD = do_GET  # noqa: N815  (the name that http.server calls)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._http = _Listener(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(
            target=self._http.serve_forever, args=(0.02,), daemon=True
        ).start()

    def close(self) -> None:
        self._stop.set()
        self._http.shutdown()
        self._http.server_close()

    def _respond(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.split("?")[0]
        with self._lock:
            before = self.requests[f"{handler.command} {path}"]
            self.requests[f"{handler.command} {path}"] += 1
            self.authorizations.add(handler.headers["Authorization"])
        answer = self.answers.get(path, Answer(b"404: Not Found", status=404))
        answer = answer.first[before] if before < len(answer.first) else answer
        if answer.drips and handler.command == "GET":
            self._drip(handler, answer.body)
            return
        if answer.endless:
            self._send_without_end(handler)
            return
        announced = len(answer.body) if answer.announced is None else answer.announced
        handler.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(announced)}.items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command == "HEAD":
            return
        if answer.hangs:
            handler.wfile.write(answer.body[: len(answer.body) // 2])
            handler.wfile.flush()
            self.hanging.set()
            self._stop.wait(30)
        else:
            handler.wfile.write(answer.body)
        if answer.hangs or announced != len(answer.body):
            handler.close_connection = True

    def _send_without_end(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.close_connection = True
        with suppress(OSError):  # the client is gone
            while not self._stop.wait(0.02):
                handler.wfile.write(b" " * 1024)

    def _drip(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
        for byte in head.encode() + body:
            if self._stop.wait(0.02):
                return
            handler.wfile.write(bytes([byte]))
        handler.close_connection = True
