# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Shows a page in Chromium without a window, through its DevTools protocol:
what scripts do, what the console says, what is to be seen.

Usage: browser.py PAGE.html SCREENSHOT.png      (to look at a page)
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def find_chromium():
    """Its path, or None: CHROMIUM, or what Debian and others call it."""
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser",
             "google-chrome"]
    return next((path for path in map(shutil.which, filter(None, names))
                 if path), None)


class Browser:
    """A browser with one page. What its console says, exceptions and requests
    that fail are in `complaints`."""

    def __init__(self, width=1200, height=900, seconds=60):
        self.seconds = seconds  # that it may take for an answer
        self.complaints, self.events, self.next_id = [], [], 0
        self.profile = tempfile.mkdtemp(prefix="serac_browser_")
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        # Chromium reads commands from descriptor 3 and answers on 4.
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "sh",
             find_chromium(), "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile}",
             f"--window-size={width},{height}", "about:blank"],
            pass_fds=(commands, answers), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.unread = b""
        target = next(t for t in self.call("Target.getTargets")["targetInfos"]
                      if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    session = None

    def call(self, method, **params):
        """The answer to a command."""
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self):
        deadline = time.monotonic() + self.seconds
        while b"\0" not in self.unread:
            left = deadline - time.monotonic()
            if left < 0 or not select.select([self.answers], [], [], left)[0]:
                raise TimeoutError("Chromium does not answer")
            read = os.read(self.answers, 1 << 20)
            if not read:
                raise RuntimeError("Chromium has ended")
            self.unread += read
        text, self.unread = self.unread.split(b"\0", 1)
        message = json.loads(text)
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.complaints.append(f"console.{params['type']}: " + " ".join(
                str(a.get("value", a.get("description")))
                for a in params["args"]))
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif method == "Network.loadingFailed":
            self.complaints.append(f"not loaded: {params['errorText']}")
        if method:
            self.events.append(method)
        return message

    def open(self, path):
        """Shows a file, and waits until all of it is there."""
        self.complaints.clear()
        self.events.clear()
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        while "Page.loadEventFired" not in self.events:
            self.receive()

    def evaluate(self, expression):
        """The value of an expression of JavaScript on the page."""
        answer = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def point_at(self, x, y):
        """Moves the mouse to a place in the window."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path):
        """Stores a picture of the whole page as a PNG file."""
        picture = self.call("Page.captureScreenshot", format="png",
                            captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(picture["data"]))

    def close(self):
        os.close(self.commands)  # it ends when nobody commands it
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.answers)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with Browser() as browser:
        browser.open(sys.argv[1])
        browser.screenshot(sys.argv[2])
        print("\n".join(browser.complaints) or "nothing to complain of")
