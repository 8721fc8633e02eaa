"""Headless Chromium, controlled through its DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

NAMES = "chromium", "chromium-browser", "google-chrome", "chrome"
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-port=0",
    "--enable-unsafe-swiftshader",  # WebGL in software
)  # fmt: skip
_TIMEOUT = 30.0  # seconds


class Browser:
    """A browser process with one page, as a context manager."""

    socket: Any = None

    def __enter__(self) -> Browser:
        self.folder = Path(tempfile.mkdtemp(prefix="report-browser-"))
        command = [str(PROGRAM), *FLAGS, f"--user-data-dir={self.folder}", "about:blank"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.loop = asyncio.new_event_loop()
        self.events: list[dict[str, Any]] = []
        self.sent = 0
        try:
            self._connect()
            for domain in ("Runtime", "Log", "Page", "Network"):
                self.send(f"{domain}.enable")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        if self.socket is not None:
            self.loop.run_until_complete(self._disconnect())
        self.process.terminate()
        self.process.wait(10)
        self.loop.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _connect(self) -> None:
        from tornado.websocket import websocket_connect

        port = self._port()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as reply:
            pages = [page for page in json.load(reply) if page["type"] == "page"]

        async def connect() -> Any:
            return await websocket_connect(pages[0]["webSocketDebuggerUrl"], max_message_size=2**27)

        self.socket = self.loop.run_until_complete(connect())

    def _port(self) -> int:
        end = time.monotonic() + _TIMEOUT
        while time.monotonic() < end:
            file = self.folder / "DevToolsActivePort"
            if file.exists() and file.read_text():
                return int(file.read_text().split()[0])
            time.sleep(0.05)
        raise TimeoutError("The browser did not start.")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command, store the events that arrive before its result, and return the result."""
        self.sent += 1
        message = json.dumps({"id": self.sent, "method": method, "params": params})
        self.loop.run_until_complete(self._write(message))
        while True:
            reply = self._receive()
            if reply.get("id") == self.sent:
                assert "error" not in reply, reply
                return reply["result"]

    def _receive(self) -> dict[str, Any]:
        reply = json.loads(self.loop.run_until_complete(self._read()))
        if "method" in reply:
            self.events.append(reply)
        return reply

    async def _disconnect(self) -> None:
        self.socket.close()
        await asyncio.sleep(0.05)

    async def _write(self, message: str) -> None:
        await self.socket.write_message(message)

    async def _read(self) -> Any:
        return await asyncio.wait_for(self.socket.read_message(), _TIMEOUT)

    def open(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open a file in a window of the given size and wait until it is loaded."""
        phone = width < 600
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=2 if phone else 1, mobile=phone,
        )  # fmt: skip
        self.send("Emulation.setTouchEmulationEnabled", enabled=phone)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        for url in ("about:blank", path.as_uri()):  # the first request clears the previous page
            self.events.clear()
            self.send("Page.navigate", url=url)
            while not any(event["method"] == "Page.loadEventFired" for event in self.events):
                self._receive()
        self.run("ready.then(() => true)")

    def run(self, script: str) -> Any:
        """Evaluate an expression in the page and return its value, awaiting promises."""
        reply = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in reply, reply
        return reply["result"].get("value")

    def settle(self) -> None:
        """Wait until the page is painted."""
        self.run("new Promise(done => setTimeout(() => requestAnimationFrame(done), 60))")

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds."""
        end = time.monotonic() + _TIMEOUT
        while not condition():
            assert time.monotonic() < end, "The condition was not met in time."
            self.settle()

    def drag(self, places: Sequence[tuple[float, float]], modifiers: int = 0) -> None:
        """Press the mouse button at the first position, move to the others, and release it."""
        kinds = ["mousePressed", *["mouseMoved"] * (len(places) - 1), "mouseReleased"]
        for k, (kind, (x, y)) in enumerate(zip(kinds, [*places, places[-1]], strict=True)):
            self.send(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1,
                buttons=int(k < len(places)), modifiers=modifiers,
            )  # fmt: skip
        self.settle()

    def main_thread_seconds(self) -> float:
        """Return the CPU time of the main thread of the page."""
        self.send("Performance.enable", timeDomain="threadTicks")
        found = self.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in found if metric["name"] == "TaskDuration")

    def errors(self) -> list[Any]:
        """Return console errors, console warnings and uncaught exceptions.

        Messages from the graphics driver are ignored.
        """
        self.settle()
        kinds = {
            "Runtime.exceptionThrown": lambda p: True,
            "Log.entryAdded": lambda p: (
                p["entry"]["level"] in ("error", "warning") and p["entry"]["source"] != "rendering"
            ),
            "Runtime.consoleAPICalled": lambda p: p["type"] in ("error", "warning", "assert"),
        }
        return [
            event["params"]
            for event in self.events
            if event["method"] in kinds and kinds[event["method"]](event["params"])
        ]

    def requests(self) -> list[str]:
        """Return the requested URLs."""
        sent = [e["params"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [params["request"]["url"] for params in sent]

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Save the visible part of the page, or all of it if ``whole`` is True, as a PNG file."""
        self.settle()
        reply = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(reply["data"]))
