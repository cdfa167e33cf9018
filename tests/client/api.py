"""A scripted Messages API: a list of turns, given out one by one, and a record of what the model was sent.

The client asks for more than the conversation (a title, a token count, a summary for /compact). Only a request of the
conversation takes a turn from the script; the others get a stock answer, so a script reads like the dialogue it plays.
"""
import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingMixIn, TCPServer
from typing import Any, Dict, List, NamedTuple, Optional

# What the model answers when the script has run out: a test that reaches it has a turn it did not expect.
EXHAUSTED = "The script has no more turns."
SUMMARY = "<summary>Earlier: the work was begun.</summary>"


class Turn(NamedTuple):
    """One answer of the model: content blocks, and an event that keeps the answer open until the test sets it."""

    blocks: List[Dict[str, Any]]
    gate: Optional[threading.Event] = None


class Request(NamedTuple):
    """One request as it arrived. `kind` is main, summary, count or other."""

    kind: str
    messages: List[Dict[str, Any]]

    @property
    def text(self):
        """Every word of the conversation that the model was sent."""
        return "\n".join(plain(message["content"]) for message in self.messages)

    @property
    def news(self):
        """What stands after the model's own last message: the part that this request adds."""
        last = max((i for i, message in enumerate(self.messages) if message["role"] == "assistant"), default=-1)
        return "\n".join(plain(message["content"]) for message in self.messages[last + 1:])


def say(text, gate=None):
    """A turn of plain text."""
    return Turn([{"type": "text", "text": text}], gate)


def call(tool, gate=None, **arguments):
    """A turn that calls one tool."""
    return Turn([{"type": "tool_use", "name": tool, "input": arguments}], gate)


def bash(command, gate=None, **arguments):
    """A turn that runs one shell command."""
    return call("Bash", gate, command=command, description="a step of the test", **arguments)


def plain(content):
    """The text of a message's content, that of tool results included."""
    if isinstance(content, str):
        return content
    parts = []
    for block in content or ():
        if block.get("type") == "text":
            parts.append(block["text"])
        elif block.get("type") == "tool_result":
            parts.append(plain(block.get("content")))
    return "\n".join(parts)


def kind_of(path, body):
    """Tell the conversation from the client's side errands, by what each carries."""
    if path.split("?")[0].endswith("/count_tokens"):
        return "count"
    messages = body.get("messages") or []
    if messages and "detailed summary" in plain(messages[-1].get("content")):
        return "summary"
    return "main" if any(tool.get("name") == "Bash" for tool in body.get("tools") or ()) else "other"


class Api:
    """The script, the record, and a server over a listening socket that the caller made."""

    def __init__(self, listener, turns=()):
        self._lock = threading.Lock()
        self._turns = list(turns)
        self._requests = []
        self._ids = itertools.count(1)
        self._server = _Server(listener, self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def script(self, *turns):
        """Append turns."""
        with self._lock:
            self._turns.extend(turns)

    @property
    def requests(self):
        """All requests so far, in order of arrival."""
        with self._lock:
            return list(self._requests)

    @property
    def main(self):
        """The requests of the conversation: the n-th was answered by the n-th turn."""
        return [request for request in self.requests if request.kind == "main"]

    def close(self):
        """Stop serving; answers that are still open end with their sockets."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def fresh_id(self, prefix):
        """An id that no other object of this server has."""
        return "%s_%06d" % (prefix, next(self._ids))

    def answer(self, path, body):
        """Record a request and choose its turn."""
        kind = kind_of(path, body)
        with self._lock:
            self._requests.append(Request(kind, body.get("messages") or []))
            if kind == "main":
                return self._turns.pop(0) if self._turns else say(EXHAUSTED)
        return say(SUMMARY if kind == "summary" else '{"title": "a test"}')


class _Server(ThreadingMixIn, TCPServer):
    daemon_threads = True
    # An answer whose gate is never opened must not hold up the end of a test.
    block_on_close = False

    def __init__(self, listener, api):
        # The socket is bound and listening already, in a network namespace this process is not in.
        super().__init__(listener.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.api = listener, api

    def handle_error(self, request, client_address):
        """A client that hangs up in the middle of an answer (Esc, exit) is no fault of the test."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *args):
        """The record is kept by the Api; the test's output stays clean."""

    def do_HEAD(self):
        self._json(200, {})

    def do_GET(self):
        self._json(404, _fault("no such resource"))

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if "/v1/messages" not in self.path:
            return self._json(404, _fault("no such resource"))
        body = json.loads(raw.decode("utf-8", "replace"))
        api = self.server.api
        turn = api.answer(self.path, body)
        if "/count_tokens" in self.path:
            return self._json(200, {"input_tokens": 1000})
        blocks = [dict(b, id=api.fresh_id("toolu")) if b["type"] == "tool_use" else b for b in turn.blocks]
        head = {"id": api.fresh_id("msg"), "type": "message", "role": "assistant", "content": [],
                "model": body.get("model", "scripted"), "stop_reason": None, "stop_sequence": None,
                "usage": {"input_tokens": 1000, "output_tokens": 20}}
        stop = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
        if body.get("stream"):
            return self._stream(head, blocks, stop, turn.gate)
        return self._json(200, dict(head, content=blocks, stop_reason=stop))

    def _json(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, head, blocks, stop, gate):
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self._event("message_start", message=head)
        for index, block in enumerate(blocks):
            start, delta = _pieces(block)
            self._event("content_block_start", index=index, content_block=start)
            self._event("content_block_delta", index=index, delta=delta)
            if gate is not None:
                gate.wait()
            self._event("content_block_stop", index=index)
        self._event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=head["usage"])
        self._event("message_stop")

    def _event(self, name, **fields):
        data = json.dumps(dict(fields, type=name))
        self.wfile.write(("event: %s\ndata: %s\n\n" % (name, data)).encode())
        self.wfile.flush()


def _pieces(block):
    """A content block as the stream sends it: an empty start, then all of it in one delta."""
    if block["type"] == "text":
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    return dict(block, input={}), {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


def _fault(message):
    return {"type": "error", "error": {"type": "not_found_error", "message": message}}
