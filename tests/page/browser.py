# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over its debugging pipe (no network, no port, no library)."""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio", "--remote-debugging-pipe"]


def find():
    """The path of a browser that runs; None: there is none. A snap has another /tmp and sees no page of ours."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        path = shutil.which(name)
        if path and not is_snap(path) and subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0:
            return path
    return None


def is_snap(path):
    with open(path, "rb") as f:
        return "snap" in os.path.realpath(path).split("/") or b"/snap/bin/" in f.read(4096)


class Browser:
    def __init__(self, **tab):
        self.home = tempfile.mkdtemp(prefix="weft-page-")
        to_child, self.out = os.pipe()
        self.inp, from_child = os.pipe()

        def pipes():
            # Chromium reads commands from 3 and writes answers to 4.
            a, b = os.dup(to_child), os.dup(from_child)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [find(), *FLAGS, "--user-data-dir=" + self.home, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=pipes, start_new_session=True)
        os.close(to_child)
        os.close(from_child)
        self.buffer, self.next_id, self.session, self.target = b"", 0, None, None
        self.new_tab(**tab)

    def new_tab(self, width=1280, height=800, dark=False, touch=False, scale=1):
        """Leaves the tab there was for a fresh one, in a profile of its own."""
        self.session = None
        if self.target:
            self.call("Target.closeTarget", targetId=self.target)
            self.call("Target.disposeBrowserContext", browserContextId=self.context)
        self.problems = []      # console errors, exceptions, refused or attempted requests
        self.context = self.call("Target.createBrowserContext")["browserContextId"]
        self.target = self.call("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=touch)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        self.media(dark=dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.inp)
        for _ in range(20):
            shutil.rmtree(self.home, ignore_errors=True)
            if not os.path.exists(self.home):
                break
            time.sleep(0.1)

    def media(self, dark=False, calm=False):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"}])

    def call(self, method, **params):
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read(60)
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def read(self, timeout):
        end = time.monotonic() + timeout
        while b"\0" not in self.buffer:
            if not select.select([self.inp], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.inp, 1 << 20)
            if not part:
                raise RuntimeError("the browser is gone")
            self.buffer += part
        raw, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(raw)
        if message.get("sessionId") == self.session:
            self.note(message)
        return message

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append("console: " + str(params["args"]))
        elif method == "Runtime.exceptionThrown":
            self.problems.append("exception: " + json.dumps(params["exceptionDetails"])[:600])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append("log: " + params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "about:", "data:")):
                self.problems.append("request: " + url)

    def open(self, path, fragment=""):
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + fragment)
        self.wait("document.readyState === 'complete' && location.href.startsWith('file')")
        self.wait("typeof flame === 'object' && flame.drawTimes.length > 0")

    def js(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:800])
        return result["result"].get("value")

    def wait(self, expression, seconds=20):
        end = time.monotonic() + seconds
        while not self.js(expression):
            if time.monotonic() > end:
                raise TimeoutError("never true: " + expression)
            time.sleep(0.03)

    def settle(self):
        """Until nothing moves and everything is drawn."""
        self.wait("!flame.move && !flame.request")

    def key(self, key, text=None, modifiers=0):
        codes = {"Enter": 13, "Escape": 27, "Backspace": 8, "ArrowLeft": 37, "ArrowUp": 38,
                 "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}
        params = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper())), "modifiers": modifiers}
        if len(key) == 1:
            params["text"] = text or key
        elif key == "Enter":
            params["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", **params)
        self.call("Input.dispatchKeyEvent", type="keyUp", **params)

    def type(self, text):
        for c in text:
            self.key(c)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, times=1):
        self.mouse("mouseMoved", x, y)
        for n in range(1, times + 1):
            self.mouse("mousePressed", x, y, button="left", clickCount=n)
            self.mouse("mouseReleased", x, y, button="left", clickCount=n)

    def tap(self, x, y):
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def center(self, selector):
        return self.js(f"""(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
            return [b.x + b.width / 2, b.y + b.height / 2]; }})()""")

    def press(self, selector):
        self.click(*self.center(selector))

    def frame(self, name):
        """The point and number of the widest frame of this name."""
        return self.js(f"""(() => {{ const t = flame.tree, total = t.total[flame.type]; let best = -1;
            for (let i = 0; i < t.n; i++)
                if (t.of(i).name === {json.dumps(name)} && (best < 0 || total[i] > total[best])) best = i;
            if (best < 0) return null;
            const b = flame.box(best), c = document.getElementById("canvas").getBoundingClientRect();
            return {{ node: best, x: c.x + b.x + b.w / 2, y: c.y + b.y + b.h / 2 }}; }})()""")

    def screenshot(self, path):
        self.settle()
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))


if __name__ == "__main__":
    print(find() or "no browser here")
    sys.exit(not find())
