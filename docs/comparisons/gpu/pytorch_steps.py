#!/usr/bin/env python3
"""Training steps per second of Gradmark's workloads in PyTorch, to stand beside `native-runner steps`.

A step is what a plain training loop does: clear the gradients, forward, loss, backward, optimiser. Batches of random
numbers lie ready on the device. Everything is float32, with TensorFloat-32 off. No clock is read before the device has
finished. Needs PyTorch 1.13 or newer, and nothing else.

    python3 pytorch_steps.py                                       every workload, eager
    python3 pytorch_steps.py --compile --workload keras-mnist-mlp  one of them through torch.compile
    python3 pytorch_steps.py --device cpu --seconds 0.1 --json steps.json
"""
import argparse
import gc
import itertools
import json
import math
import os
import platform
import statistics
import sys
import time

import torch

from pytorch_networks import WORKLOADS, parameters

# Different batches take turns, as in an epoch.
BATCHES = 4
DIFFERENCES = (
    "batches are random numbers that lie ready on the device: fetching, shuffling, augmentation and standardisation, "
    "which are part of a step of Gradmark's, cost PyTorch nothing",
    "learning-rate schedules are left out",
    "LSTMs are torch.nn.LSTM with logistic gates, where Keras 2 has hard sigmoids",
    "airbench94 keeps training the bias of its whitening layer, and computes in float32",
)


def processor():
    """Its name, which Python does not know on Linux."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


class Device:
    """Where to compute, and how to wait until it has finished."""

    def __init__(self, name):
        if name == "auto":
            name = "cuda" if torch.cuda.is_available() else "cpu"
        self.place = torch.device(name)
        if self.place.type == "cuda" and not torch.cuda.is_available():
            sys.exit(f"this PyTorch ({torch.__version__}) sees no GPU; --device cpu computes on the processor")
        self.is_gpu = self.place.type == "cuda"

    def wait(self):
        if self.is_gpu:
            torch.cuda.synchronize(self.place)

    def describe(self):
        if not self.is_gpu:
            return {"type": self.place.type, "name": processor(), "threads": torch.get_num_threads()}
        facts = torch.cuda.get_device_properties(self.place)
        return {"type": "cuda", "name": facts.name, "memory_bytes": facts.total_memory,
                "multiprocessors": facts.multi_processor_count}

    def forget(self):
        """Frees what the last workload left behind, so that the next one's memory is its own."""
        gc.collect()
        if self.is_gpu:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(self.place)

    def peak_memory_bytes(self):
        return torch.cuda.max_memory_allocated(self.place) if self.is_gpu else None


class Training:
    """A network that trains on batches which come round and round."""

    def __init__(self, workload, batch, device, compile_mode):
        torch.manual_seed(1)
        self.device = device
        self.model = workload.model().to(device.place).train()
        found = parameters(self.model)
        if found != workload.parameters:
            raise ValueError(f"the network has {found} parameters instead of {workload.parameters}")
        self.optimizer = workload.optimizer(self.model)
        self.gradient_limit = workload.gradient_limit
        self.follower = workload.follower(self.model) if workload.follower else None
        self.batches = itertools.cycle([self.random_batch(workload, batch) for _ in range(BATCHES)])
        # CUDA graphs reuse their memory, so the start of each step must be marked.
        self.mark = lambda: None
        if compile_mode == "reduce-overhead" and hasattr(torch, "compiler"):
            self.mark = getattr(torch.compiler, "cudagraph_mark_step_begin", self.mark)

        def loss_of(inputs, labels):
            return workload.loss(self.model(inputs), labels)

        self.loss_of = torch.compile(loss_of, mode=compile_mode) if compile_mode else loss_of

    def random_batch(self, workload, batch):
        place = self.device.place
        if workload.vocabulary:
            inputs = torch.randint(workload.vocabulary, (batch, *workload.sample), device=place)
        else:
            inputs = torch.rand(batch, *workload.sample, device=place)
        return inputs, torch.randint(workload.classes, (batch, *workload.answers), device=place)

    def train(self, steps):
        """Trains so many steps; returns seconds, and the last loss."""
        self.device.wait()
        start = time.perf_counter()
        for _ in range(steps):
            inputs, labels = next(self.batches)
            self.mark()
            self.optimizer.zero_grad(set_to_none=True)
            loss = self.loss_of(inputs, labels)
            loss.backward()
            if self.gradient_limit:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.gradient_limit)
            self.optimizer.step()
            if self.follower:
                self.follower.step()
        self.device.wait()
        return time.perf_counter() - start, loss

    def warm_up(self, seconds):
        """Trains until half a window is full; returns seconds of the first step, and of a later one.

        The first step compiles and chooses kernels, so that it says nothing about the others.
        """
        first, _ = self.train(1)
        steps = 1
        while True:
            spent, _ = self.train(steps)
            if spent >= seconds / 2:
                return first, spent / steps
            steps *= 2


def measure(workload, options, device):
    """The figures of one workload; rates are medians over the windows."""
    device.forget()
    if options.compile:
        # Every workload compiles the same function anew, which counts as one function with too many shapes.
        torch._dynamo.reset()
    batch = options.batch or workload.batch
    training = Training(workload, batch, device, options.compile)
    first, step_seconds = training.warm_up(options.seconds)
    steps = max(1, math.ceil(options.seconds / step_seconds))
    windows, finite = [], True
    for _ in range(options.windows):
        seconds, loss = training.train(steps)
        finite = finite and math.isfinite(loss.item())
        windows.append({"steps": steps, "seconds": seconds})
    rates = [window["steps"] / window["seconds"] for window in windows]
    median = statistics.median(rates)
    return {
        "outcome": "measured", "batch_size": batch, "parameters": workload.parameters,
        "steps_per_second": median, "samples_per_second": median * batch,
        "relative_spread": (max(rates) - min(rates)) / 2 / median,
        "first_step_seconds": first, "device_memory_bytes": device.peak_memory_bytes(),
        "losses_are_finite": finite, "windows": windows,
    }


def attempt(workload, options, device):
    """The same; what went wrong is an outcome, too, and the other workloads go on."""
    try:
        return measure(workload, options, device)
    except Exception as error:  # whatever a driver or a compiler may raise
        text = str(error).strip() or "no message"
        return {"outcome": "failed", "reason": f"{type(error).__name__}: {text[:2000]}"}


def run(workloads, options, device):
    """Measures all; after each, what is known lies in the file."""
    document = describe(options, device)
    start = time.monotonic()
    entries = {workload.name: {"workload": workload.name, "outcome": "left out", "reason": "it was not reached"}
               for workload in workloads}
    document["workloads"] = list(entries.values())
    for number, workload in enumerate(workloads, 1):
        write(document, options.json)
        if options.time_limit and time.monotonic() - start >= options.time_limit:
            entries[workload.name]["reason"] = f"--time-limit, {options.time_limit:g} s, was over before it began"
            continue
        print(f"{number}/{len(workloads)} {workload.name}", file=sys.stderr, flush=True)
        try:
            result = attempt(workload, options, device)
        except KeyboardInterrupt:
            entries[workload.name]["reason"] = "it was interrupted"
            document["cancelled"] = True
            break
        entries[workload.name].pop("reason", None)
        entries[workload.name].update(result)
    write(document, options.json)
    return document


def describe(options, device):
    cudnn = torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None
    return {
        "schema_version": 1, "framework": f"PyTorch {torch.__version__}", "mode": options.compile or "eager",
        "device": device.describe(), "cuda": torch.version.cuda, "rocm": getattr(torch.version, "hip", None),
        "cudnn": cudnn, "python": platform.python_version(), "precision": "f32", "tf32": False,
        "seconds_per_window": options.seconds, "differences": DIFFERENCES, "cancelled": False,
    }


def write(document, path):
    """Puts the whole file in its place at once, so that a program which is killed leaves the last one."""
    if not path:
        return
    aside = f"{path}.partial"
    with open(aside, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    os.replace(aside, path)


def show(document):
    mode = "eager" if document["mode"] == "eager" else f"torch.compile, mode {document['mode']}"
    print(f"{document['framework']}, {mode}, float32 without TF32, on {document['device']['name']}\n")
    print(f"{'workload':<20} {'batch':>5} {'steps/s':>10} {'samples/s':>12} {'spread':>8} {'first step':>11}")
    notes = []
    for entry in document["workloads"]:
        name = entry["workload"]
        if entry["outcome"] != "measured":
            # The file has all of it.
            notes.append(f"{name}: {entry['outcome']}: {entry['reason'].splitlines()[0][:300]}")
            continue
        if not entry["losses_are_finite"]:
            notes.append(f"{name}: the loss is not a finite number, so it trains but learns nothing")
        print(f"{name:<20} {entry['batch_size']:>5} {entry['steps_per_second']:>10.1f} "
              f"{entry['samples_per_second']:>12,.0f} {'±%.1f %%' % (100 * entry['relative_spread']):>8} "
              f"{entry['first_step_seconds']:>9.2f} s")
    for note in notes:
        print(f"! {note}")


def chosen(text):
    known = {workload.name: workload for workload in WORKLOADS}
    names = [name.strip() for name in text.split(",")] if text else list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no workload is named {', '.join(unknown)}; there are {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", metavar="A,B", help="workloads to measure, in this order [default: all]")
    parser.add_argument("--batch", type=int, metavar="N", help="samples in a batch [default: the workload's]")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="X", help="seconds of a window [default: 1]")
    parser.add_argument("--windows", type=int, default=5, metavar="N", help="windows of each workload [default: 5]")
    parser.add_argument("--compile", nargs="?", const="default", metavar="MODE",
                        help="compile forward and loss with torch.compile, in this mode: default, reduce-overhead "
                             "(CUDA graphs) or max-autotune [default: eager]")
    parser.add_argument("--device", default="auto", help="`cuda`, `cuda:1`, `cpu` … [default: a GPU if there is one]")
    parser.add_argument("--time-limit", type=float, metavar="X", help="begin no workload after so many seconds")
    parser.add_argument("--json", metavar="FILE", help="write every window, after each workload")
    options = parser.parse_args()
    if options.seconds <= 0 or options.windows < 1 or (options.batch is not None and options.batch < 1):
        parser.error("--seconds, --windows and --batch must be above 0")
    if options.compile and not hasattr(torch, "compile"):
        parser.error(f"PyTorch {torch.__version__} has no torch.compile; 2.0 and newer have it")
    return options


def main():
    options = arguments()
    workloads = chosen(options.workload)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    # Gradmark tries its kernels before it trains, too.
    torch.backends.cudnn.benchmark = True
    document = run(workloads, options, Device(options.device))
    show(document)
    if document["cancelled"]:
        sys.exit(130)
    # What the limit left out is said above, and was asked for.
    sys.exit(any(entry["outcome"] == "failed" for entry in document["workloads"]))


if __name__ == "__main__":
    main()
