#!/usr/bin/env python3
"""What training in a browser costs beside the command line, on the same GPU: the browser tax.

Serves the built page, opens it in Chromium through chromedriver, trains a network for some seconds, and trains the same
network as long with `native-runner`, by turns. Chromium has a window; where there is no display, Xvfb is one, and where
that is missing too, Chromium is headless, which the result says. Needs Chromium, chromedriver and Python 3.10.

    python3 run_in_browser.py --runner native-runner --leaderboard leaderboard --page dist --data data
"""
import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ALWAYS = ("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
          "--disable-dev-shm-usage", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
          "--window-size=1280,900", "--enable-unsafe-webgpu")
# On Linux, WebGPU has a GPU only over Vulkan; an X server without one cannot show what Vulkan draws, and need not.
ON_A_GPU = ("--ignore-gpu-blocklist", "--enable-features=Vulkan,VulkanFromANGLE,DefaultANGLEVulkan",
            "--use-angle=vulkan", "--disable-vulkan-surface")
ON_THE_PROCESSOR = ("--use-webgpu-adapter=swiftshader",)

# The button, why it cannot be pressed, what the page says, and the record once there is one.
LOOK = """
const button = [...document.querySelectorAll('button')].find((one) => one.textContent.trim() === 'Benchmark');
const text = (where) => document.querySelector(where)?.textContent ?? '';
return { ready: Boolean(button) && !button.disabled, note: text('#benchmark-note'), status: text('[role=status]'),
         record: text('details.json pre') };
"""
PRESS = """
[...document.querySelectorAll('button')].find((one) => one.textContent.trim() === 'Benchmark').click();
"""


class Trouble(Exception):
    """Something that a person has to know; the text says what to do."""


@contextlib.contextmanager
def program(command, **streams):
    """A program that is ended with the block."""
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, **streams)
    except OSError as error:
        raise Trouble(f"{command[0]} cannot be started: {error}") from error
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def after(process, words, what):
    """What follows these words in a line of the program's output."""
    for line in process.stdout:
        if words in line:
            return line.split(words, 1)[1].strip()
    raise Trouble(f"{what} ended with status {process.wait()} before it was ready")


@contextlib.contextmanager
def display(wanted):
    """The environment of a browser with a window, and what its window is on; None without any."""
    if not wanted:
        yield dict(os.environ), None
    elif os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        yield dict(os.environ), "a display of this machine"
    elif not shutil.which("Xvfb"):
        print("Xvfb is missing (Debian, Ubuntu: apt-get install xvfb), so Chromium is headless", file=sys.stderr)
        yield dict(os.environ), None
    else:
        read, write = os.pipe()
        command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]
        with program(command, pass_fds=(write,), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            os.close(write)
            with os.fdopen(read) as pipe:
                number = pipe.readline().strip()
            if not number:
                raise Trouble("Xvfb ended before it had a display")
            yield {**os.environ, "DISPLAY": f":{number}"}, "Xvfb"


class Driver:
    """A session of chromedriver: the few commands of WebDriver that are needed here."""

    def __init__(self, address, arguments, binary):
        self.address, self.session = address, None
        options = {"args": arguments, **({"binary": binary} if binary else {})}
        answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
        self.session = answer["sessionId"]
        self.version = answer["capabilities"].get("browserVersion", "")

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            message = json.load(error)["value"].get("message", "").splitlines()
            raise Trouble(f"the browser refuses: {message[0] if message else error}") from error
        except OSError as error:
            raise Trouble(f"chromedriver does not answer: {error}") from error

    def open(self, address):
        self.ask("POST", f"/session/{self.session}/url", {"url": address})

    def run(self, script):
        return self.ask("POST", f"/session/{self.session}/execute/sync", {"script": script, "args": []})

    def close(self):
        with contextlib.suppress(Trouble):
            self.ask("DELETE", f"/session/{self.session}")


def train_in_page(driver, origin, workload, options):
    """Trains as the page's address says and returns the record."""
    driver.open(f"{origin}/?workload={workload}&seconds={options.seconds:g}")
    patience = time.monotonic() + 30
    while not (seen := driver.run(LOOK))["ready"]:
        if time.monotonic() > patience:
            raise Trouble(f"the page does not offer to train: {seen['note'] or 'it shows no button'}")
        time.sleep(0.2)
    driver.run(PRESS)
    patience, idle_since = time.monotonic() + options.seconds + options.patience, None
    while not (seen := driver.run(LOOK))["record"]:
        now = time.monotonic()
        # A run that failed leaves its reason, and the button comes back.
        idle_since = (idle_since or now) if seen["ready"] else None
        if idle_since and now - idle_since > 3:
            raise Trouble(f"the run in the page ended: {seen['status'] or seen['note']}")
        if now > patience:
            raise Trouble(f"the page has no result after {options.seconds + options.patience:g} s: {seen['status']}")
        time.sleep(0.5)
    return json.loads(seen["record"])


def train_natively(workload, options):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "record.json")
        command = [options.runner, "--adapter", options.adapter, "--workload", workload,
                   "--seconds", f"{options.seconds:g}", "--data", options.data, "--json", file]
        finished = subprocess.run(command, capture_output=True, text=True)
        if finished.returncode:
            raise Trouble(f"native-runner ended with status {finished.returncode}: {finished.stderr.strip()}")
        with open(file, encoding="utf-8") as opened:
            return json.load(opened)


def rate(record, where):
    """Samples per second of the only workload of a record."""
    found = record["workloads"][0]["summary"]["samples_per_second"]
    if found is None:
        raise Trouble(f"{where}: too short for a figure; ask for more --seconds")
    return found


def measure(driver, origin, workload, options):
    entry = {"workload": workload, "native": [], "browser": [], "records": []}
    for _ in range(options.turns):
        native = train_natively(workload, options)
        page = train_in_page(driver, origin, workload, options)
        adapter = page["device"]["adapter"]
        if adapter["software"] and options.adapter != "cpu":
            raise Trouble(f"the browser has only a software adapter, {adapter['name']}; look at chrome://gpu, and try "
                          "other --flags")
        entry["native"].append(rate(native, "native-runner"))
        entry["browser"].append(rate(page, "the page"))
        entry["records"] += [native, page]
        entry["adapters"] = [native["device"]["adapter"], adapter]
    native, browser = statistics.median(entry["native"]), statistics.median(entry["browser"])
    entry.update(native_samples_per_second=native, browser_samples_per_second=browser,
                 native_over_browser=native / browser)
    print(f"{workload}: {native:,.0f} samples/s natively, {browser:,.0f} in the browser, "
          f"{native / browser:.2f} times as many", flush=True)
    return entry


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("runner", "leaderboard", "page", "data"):
        parser.add_argument(f"--{name}", required=True, metavar="PATH")
    parser.add_argument("--adapter", default="discrete", help="as native-runner takes it [default: discrete]")
    parser.add_argument("--workload", default="keras-mnist-mlp,keras-mnist-cnn", metavar="A,B")
    parser.add_argument("--seconds", type=float, default=8.0, help="seconds of training [default: 8]")
    parser.add_argument("--turns", type=int, default=1, help="runs on either side [default: 1]")
    parser.add_argument("--patience", type=float, default=60.0,
                        help="seconds to wait beyond the training, for loading and checking [default: 60]")
    parser.add_argument("--headless", action="store_true", help="do not even try a window")
    parser.add_argument("--flags", help="for Chromium, instead of those that look for a GPU")
    parser.add_argument("--chromium", metavar="FILE", help="the browser [default: what chromedriver finds]")
    parser.add_argument("--json", metavar="FILE", help="write figures and records")
    return parser.parse_args()


def flags(options, profile, has_window):
    usual = ON_THE_PROCESSOR if options.adapter == "cpu" else ON_A_GPU
    chosen = usual if options.flags is None else tuple(options.flags.split())
    # Chromium's sandbox does not start as root, as whom containers run.
    as_root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    return [*ALWAYS, *chosen, *as_root, *(() if has_window else ("--headless=new",)), f"--user-data-dir={profile}"]


def run(options):
    if not shutil.which("chromedriver"):
        raise Trouble("chromedriver is missing (Debian: apt-get install chromium chromium-driver)")
    document = {"schema_version": 1, "seconds": options.seconds, "workloads": []}
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        environment, window = stack.enter_context(display(not options.headless))
        server = stack.enter_context(program(
            [options.leaderboard, "--listen", "127.0.0.1:0", "--database", os.path.join(folder, "db.sqlite"),
             "--page", options.page, "--data", options.data, "--log", "warn"], stdout=subprocess.PIPE))
        origin = after(server, "listening on ", "the server")
        process = stack.enter_context(program(["chromedriver", "--port=0"], stdout=subprocess.PIPE, env=environment))
        port = after(process, "successfully on port ", "chromedriver").rstrip(".")
        chosen = flags(options, os.path.join(folder, "profile"), window is not None)
        driver = Driver(f"http://127.0.0.1:{port}", chosen, options.chromium)
        stack.callback(driver.close)
        document.update(browser=f"Chromium {driver.version}", window=window or "none, headless", flags=chosen)
        print(f"{document['browser']}, window on: {document['window']}", flush=True)
        for workload in options.workload.split(","):
            document["workloads"].append(measure(driver, origin, workload.strip(), options))
            if options.json:
                with open(options.json, "w", encoding="utf-8") as file:
                    json.dump(document, file, indent=1)


def main():
    try:
        run(arguments())
    except Trouble as trouble:
        sys.exit(f"error: {trouble}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
