"""A chat and completion server that records its requests and answers in many forms.

The model's name selects the form; the letter depends only on the text of the prompt.
"""

import json
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

THOUGHT = "我哋諗下先。首先睇下選項A，再睇下選項B。\nThe answer is C? 唔係。\n"
FORMS: dict[str, tuple[str | None, str | None]] = {
    "letters": ("{}", None),
    "sentence": ("答案係{}。", None),
    "breaks": ("\n\n{}", None),
    "think": (f"<think>\n{THOUGHT}</think>\n\n{{}}", None),
    "unclosed": (f"<think>\n{THOUGHT}", None),
    "closing": (f"{THOUGHT}</think>\n\n{{}}", None),
    "field": ("{}", THOUGHT),
    "field-reasoning": ("{}", THOUGHT),
    "field-cut-off": (None, THOUGHT),
    "harmony": (
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final"
        "<|message|>{}",
        None,
    ),
    "harmony-skipped": (f"analysis{THOUGHT}assistantfinal{{}}", None),
    "harmony-cut-off": (f"analysis{THOUGHT}", None),
    "magistral": (f"[THINK]{THOUGHT}[/THINK]{{}}", None),
    "gemma": (f"<|channel>thought\n{THOUGHT}<channel|>{{}}", None),
    "empty": ("", None),
    "null-content": (None, None),
}
"""Model → its answer, with a place for the letter, and the content of its reasoning field."""

FAILURES: dict[str, tuple[int, str]] = {
    "rate-limited": (429, '{"error": {"message": "slow down"}}'),
    "broken": (500, '{"error": {"message": "oops"}}'),
    "html": (200, "<html><body>Bad gateway</body></html>"),
    "error-body": (200, '{"error": {"message": "upstream", "code": 502}}'),
}
"""Model → how it answers each prompt the first times, by status and body."""


def letter(prompt: str) -> str:
    """The letter that the server answers a prompt with."""
    return "ABCD"[zlib.crc32(prompt.encode()) % 4]


def text_of(message: dict[str, Any]) -> str:
    """The text of a chat message, which may consist of parts."""
    content = message["content"]
    return (
        content
        if isinstance(content, str)
        else "".join(part["text"] for part in content)
    )


class RecordingServer:
    """Serves `/v1/chat/completions` and `/v1/completions` on this machine.

    Attributes:
        failures: How often a model of `FAILURES` fails on a prompt; afterwards it answers.
        url: Its address, to which `/v1` is added.
        requests: The bodies of all requests, in the order of their arrival.
    """

    def __init__(self) -> None:
        self.failures = 1
        self.requests: list[dict[str, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append(body)
                status, text = server.failure(body)
                is_json = not text.startswith("<")
                content = (text or json.dumps(server.answer(body))).encode()
                self.send_response(status)
                kind = "application/json" if is_json else "text/html"
                self.send_header("Content-Type", kind)
                self.send_header("Retry-After-Ms", "1")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def failure(self, body: dict[str, Any]) -> tuple[int, str]:
        """The status and body of a failure; 200 and an empty body if it is to answer."""
        same = [sent for sent in self.requests if sent == body]
        if body["model"] in FAILURES and len(same) <= self.failures:
            return FAILURES[body["model"]]
        return 200, ""

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        content, thought = FORMS.get(body["model"], FORMS["letters"])
        choices: list[dict[str, Any]] = []
        if "messages" in body:
            said = content and content.format(
                letter("".join(map(text_of, body["messages"])))
            )
            message = {"role": "assistant", "content": said}
            if thought:
                own = body["model"].endswith("-reasoning")
                message["reasoning" if own else "reasoning_content"] = thought
            choices = [{"index": 0, "finish_reason": "stop", "message": message}]
        else:
            prompts = (
                body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
            )
            for index, prompt in enumerate(prompts):
                said = (content or "").format(letter(str(prompt)))
                for stop in body.get("stop") or ():  # as real servers do
                    said = said.partition(stop)[0]
                choices.append({"index": index, "finish_reason": "stop", "text": said})
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        kind = "chat.completion" if "messages" in body else "text_completion"
        return {
            "id": "x",
            "object": kind,
            "created": 0,
            "model": body["model"],
            "choices": choices,
            "usage": usage,
        }


@contextmanager
def recording() -> Iterator[RecordingServer]:
    """Run a server for the duration of the block."""
    server = RecordingServer()
    try:
        yield server
    finally:
        server.close()
