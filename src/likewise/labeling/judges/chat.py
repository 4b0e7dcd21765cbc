"""`openai:URL#MODEL`: a vision-language model behind the usual HTTP chat protocol (POST URL/chat/completions).

Each pair is one request: the project's guidelines as system message, then both pictures as base64 data URLs and the
question. Servers that are busy (429, 5xx) or do not answer are asked again, later each time. A key, where the server
wants one, comes from the environment variable LIKEWISE_JUDGE_KEY and goes nowhere but into the request's header.
"""

import base64
import hashlib
import io
import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from likewise.catalog.images import load_image
from likewise.errors import LikewiseError
from likewise.labeling.judges.protocol import JudgeReply, PicturePair

KEY_VARIABLE = "LIKEWISE_JUDGE_KEY"
QUESTION = (
    "The first picture is the query, the second the candidate. Do they look alike in the sense of the guidelines? "
    "Answer with one word: yes, no, or unsure."
)
SAYS = re.compile(r"[\W_]*(yes|similar|no|not|unsure|cannot)\b", re.IGNORECASE)
ANSWERS = {"yes": 1.0, "similar": 1.0, "no": 0.0, "not": 0.0}
PICTURE_SIDE = 512
MAX_TOKENS = 8
BUSY = (408, 409, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True)
class ChatJudge:
    """A model of a server; `guidelines` are what people were told, too."""

    url: str
    model: str
    guidelines: str
    n_workers: int = 4
    n_tries: int = 6
    first_wait: float = 1.0
    timeout: float = 120.0
    key: str = field(default_factory=lambda: os.environ.get(KEY_VARIABLE, ""), repr=False)

    @property
    def name(self) -> str:
        return self.model

    @property
    def identity(self) -> str:
        prompt = hashlib.sha256(f"{self.guidelines}\n{QUESTION}\n{PICTURE_SIDE}".encode()).hexdigest()
        return f"{self.url}#{self.model} {prompt[:16]}"

    def ask(self, pairs: Sequence[PicturePair]) -> Iterator[tuple[PicturePair, JudgeReply]]:
        with ThreadPoolExecutor(self.n_workers) as pool:
            waiting = {pool.submit(self._ask_one, pair): pair for pair in pairs}
            try:
                for done in as_completed(waiting):
                    yield waiting[done], done.result()
            finally:  # what is not begun yet need not be: an error ends the run, and answers so far are kept
                pool.shutdown(wait=True, cancel_futures=True)

    def _ask_one(self, pair: PicturePair) -> JudgeReply:
        started = time.perf_counter()
        content: list[dict[str, Any]] = [
            {"type": "image_url", "image_url": {"url": _data_url(file)}}
            for file in (pair.query_file, pair.candidate_file)
        ]
        message = {
            "model": self.model,
            "temperature": 0,
            "max_tokens": MAX_TOKENS,
            "messages": [
                {"role": "system", "content": self.guidelines},
                {"role": "user", "content": [*content, {"type": "text", "text": QUESTION}]},
            ],
        }
        reply = self._post(message)
        try:
            text = str(reply["choices"][0]["message"]["content"] or "")
        except (KeyError, IndexError, TypeError):
            raise LikewiseError(
                f"{self.url} does not answer as a chat server does (no choices[0].message.content): check the address."
            ) from None
        usage = reply.get("usage") or {}
        said = SAYS.match(text)
        return JudgeReply(
            ANSWERS.get(said[1].lower()) if said else None,
            text.strip()[:200],
            int(usage.get("prompt_tokens") or 0),
            int(usage.get("completion_tokens") or 0),
            time.perf_counter() - started,
        )

    def _post(self, message: dict[str, Any]) -> dict[str, Any]:
        address = self.url if self.url.endswith("/chat/completions") else f"{self.url.rstrip('/')}/chat/completions"
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {})
        request = Request(address, json.dumps(message).encode(), headers)
        why = ""
        for attempt in range(self.n_tries):
            if attempt:
                time.sleep(self.first_wait * 2.0 ** (attempt - 1))
            try:
                with urlopen(request, timeout=self.timeout) as response:
                    found = json.loads(response.read())
                if isinstance(found, dict):
                    return found
                why = "it did not answer with a JSON object"
            except HTTPError as error:
                why = f"status {error.code}"
                if error.code not in BUSY:
                    hint = f" (the key comes from {KEY_VARIABLE})" if error.code in (401, 403) else ""
                    raise LikewiseError(f"{self.url} refused a request for {self.model}: {why}{hint}.") from None
            except (URLError, HTTPException, TimeoutError, ConnectionError, ValueError) as error:
                why = type(error).__name__ if not isinstance(error, URLError) else str(error.reason)
        raise LikewiseError(
            f"{self.url} did not answer {self.n_tries} times ({why}): see that the server runs, then run the same "
            "command again; it goes on where it stopped."
        )


def parse_chat_spec(spec: str, guidelines: str, n_workers: int) -> ChatJudge:
    """The judge that `openai:URL#MODEL` names."""
    url, mark, model = spec.removeprefix("openai:").rpartition("#")
    parts = urlsplit(url)
    if not mark or not model or parts.scheme not in ("http", "https") or not parts.netloc:
        raise LikewiseError(f"{spec!r} must be openai:URL#MODEL, such as openai:http://localhost:8000/v1#qwen2-vl.")
    if parts.username or parts.password:
        raise LikewiseError(f"a key does not belong into the address of a judge: put it into {KEY_VARIABLE}.")
    return ChatJudge(url.rstrip("/"), model, guidelines, n_workers)


def _data_url(file: Path) -> str:
    picture = load_image(file, at_least=PICTURE_SIDE)
    picture.thumbnail((PICTURE_SIDE, PICTURE_SIDE))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=90)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"
