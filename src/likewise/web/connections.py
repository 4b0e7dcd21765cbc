"""Connections that are slow, endless or come in masses: a request must arrive within a while, its address and headers
have a limit, and nobody gets all connections."""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

REQUEST_SECONDS = 20.0  # from the first moment of a request to its last byte
MAX_FROM_ONE_ADDRESS = 200
MAX_HEAD_BYTES = 65_536  # of an address and headers that have not ended yet
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def connection_protocol(trusted_proxies: frozenset[str], seconds: float = REQUEST_SECONDS) -> type[asyncio.Protocol]:
    """uvicorn's protocol with both limits; those of a trusted proxy are its own affair in number, not in time."""
    open_by_address: Counter[str] = Counter()

    class LimitedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        def connection_made(self, transport: Any) -> None:
            self._deadline: asyncio.TimerHandle | None = None
            self._head_bytes = 0
            self._address = str((transport.get_extra_info("peername") or ("",))[0])
            open_by_address[self._address] += 1
            super().connection_made(transport)
            if open_by_address[self._address] > MAX_FROM_ONE_ADDRESS and self._address not in trusted_proxies:
                transport.abort()
                return
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._unwatch()
            open_by_address[self._address] -= 1
            if not open_by_address[self._address]:
                del open_by_address[self._address]
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
                    self.transport.close()
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
                self._deadline = asyncio.get_running_loop().call_later(seconds, self._give_up)

        def _unwatch(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _give_up(self) -> None:
            self._deadline = None
            if not self.transport.is_closing():
                self.transport.close()

    return LimitedProtocol
