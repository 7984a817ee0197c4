# SPDX-License-Identifier: BSD-3-Clause
"""Headless Chromium, driven by its DevTools protocol over pipes: messages are JSON, each ended by a zero byte.

    with Browser() as browser:
        browser.open("http://127.0.0.1:9121/", width=1280, height=900)
        assert browser.evaluate("document.title") == "..."

It ends with the `with` block. Errors and warnings of the page's console are in `complaints`.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

ANSWER_TIMEOUT_S = 120


class Browser:
    """One process of Chromium with one page."""

    def __init__(self):
        self.complaints = []
        self._profile = tempfile.mkdtemp(prefix="cairn-browser-")
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()
        # The protocol fixes the descriptors: 3 to read from, 4 to write to. Both may be taken here, so the shell moves
        # them. Root cannot use the sandbox of user namespaces.
        flags = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                 "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--disable-background-networking",
                 "--disable-component-update",
                 "--disable-sync", "--no-default-browser-check", f"--user-data-dir={self._profile}", "about:blank"]
        move = f"exec chromium \"$@\" 3<&{to_browser} 4>&{from_browser}"
        self._process = subprocess.Popen(["bash", "-c", move, "chromium"] + flags, pass_fds=(to_browser, from_browser),
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._received = b""
        self._next_id = 0
        self._session = None
        try:
            targets = self._call("Target.getTargets")["targetInfos"]
            page = next(target["targetId"] for target in targets if target["type"] == "page")
            self._session = self._call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log"):
                self._call(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the process and removes its profile."""
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self._profile, ignore_errors=True)

    def _receive(self):
        deadline = time.monotonic() + ANSWER_TIMEOUT_S
        while b"\0" not in self._received:
            ready = select.select([self._from], [], [], max(0, deadline - time.monotonic()))[0]
            piece = os.read(self._from, 1 << 20) if ready else b""
            if not piece:
                raise RuntimeError("the browser does not answer")
            self._received += piece
        message, self._received = self._received.split(b"\0", 1)
        return json.loads(message)

    def _call(self, method, **params):
        self._next_id += 1
        request = {"id": self._next_id, "method": method, "params": params}
        if self._session:
            request["sessionId"] = self._session
        os.write(self._to, json.dumps(request).encode() + b"\0")
        while True:
            message = self._receive()
            if message.get("id") == self._next_id:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            if message.get("method") == "Runtime.exceptionThrown":
                self.complaints.append(str(message["params"]["exceptionDetails"]))
            if message.get("method") == "Log.entryAdded":
                self.complaints.append(str(message["params"]["entry"]))

    def open(self, url, width, height, scheme="light"):
        """Loads a page in a window of this size, which prefers light or dark colours."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                   mobile=width < 600)
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self._call("Page.navigate", url=url)

    def evaluate(self, expression):
        """The value of an expression in the page; a promise is awaited."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def screenshot(self):
        """The bytes of a PNG of the window."""
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])
