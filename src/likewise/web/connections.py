"""Connections that are slow, endless or come in masses: a request must arrive within a while, its address and headers
have a limit, and nobody gets all connections."""

import asyncio
from collections import Counter
from typing import Any
from weakref import WeakSet

from uvicorn.protocols.http.auto import AutoHTTPProtocol

REQUEST_SECONDS = 20.0  # from the first moment of a request to its last byte
MAX_FROM_ONE_ADDRESS = 200
MAX_HEAD_BYTES = 65_536  # of an address and headers that have not ended yet
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class LimitedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's protocol with the limits of one site, which `connection_protocol` sets."""

    trusted_proxies: frozenset[str]
    seconds: float
    open_by_address: Counter[str]

    def connection_made(self, transport: Any) -> None:
        self._deadline: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._asked = WeakSet[Any]()
        self._address = str((transport.get_extra_info("peername") or ("",))[0])
        self.open_by_address[self._address] += 1
        super().connection_made(transport)
        if self.open_by_address[self._address] > MAX_FROM_ONE_ADDRESS and self._address not in self.trusted_proxies:
            transport.abort()
            return
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        self.open_by_address[self._address] -= 1
        if not self.open_by_address[self._address]:
            del self.open_by_address[self._address]
        self._leave()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        before, is_body = self.cycle, self.cycle is not None and bool(self.cycle.more_body)
        super().data_received(data)
        if self.cycle is not before:
            self._head_bytes = 0
        elif not is_body:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                self.transport.write(TOO_LARGE)
                self._end()
        if self._is_receiving():
            self._watch()
        else:
            self._unwatch()

    def _is_receiving(self) -> bool:
        """Whether a request has begun and is not here as a whole."""
        cycle = self.cycle
        return cycle is None or bool(cycle.more_body) or bool(cycle.response_complete)

    def _watch(self) -> None:
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().call_later(self.seconds, self._give_up)

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self._end()

    def on_headers_complete(self) -> None:
        """Of several requests at once uvicorn knows the last, not the one that is answered."""
        super().on_headers_complete()
        self._asked.add(self.cycle)

    def _leave(self) -> None:
        """What is being answered has nowhere to go."""
        for cycle in self._asked:
            cycle.disconnected = cycle.disconnected or not cycle.response_complete

    def _end(self) -> None:
        self._leave()
        self.transport.close()


def connection_protocol(trusted_proxies: frozenset[str], seconds: float = REQUEST_SECONDS) -> type[asyncio.Protocol]:
    """The limits of one site; connections of a trusted proxy are its own affair in number, not in time."""
    limits = {"trusted_proxies": trusted_proxies, "seconds": seconds, "open_by_address": Counter[str]()}
    return type("SiteProtocol", (LimitedProtocol,), limits)
