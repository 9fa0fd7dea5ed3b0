#!/usr/bin/env python3
"""Holds the back ends of a `native-runner` to the golden traces, on this machine's device.

Each trace is computed anew with `native-runner trace` and compared as the engine's own test does it
(engine/tests/golden.rs): losses, gradient norms, updates, final norms, logits and test accuracy, each within the
tolerance that the trace's file states, and the stable losses and first gradients within 1e-5. Needs only Python.

    python3 check_traces.py --runner native-runner --golden ../../../reference/golden --data ../../../data
"""
import argparse
import json
import math
import os
import subprocess
import sys
import time

# The engine's test holds float32 back ends to this where a trace allows the first step more.
STRICT = 1e-5
# The judge needs no judging, and a remote device has to be named.
NOT_TRACED = ("reference", "burn-remote")


class MissingData(Exception):
    pass


class Verdict:
    """How much of what is allowed the numbers of a trace are off by."""

    def __init__(self):
        self.worst, self.where, self.wrong = 0.0, "nothing", []

    def hold(self, what, found, expected, absolute, relative):
        if len(found) != len(expected):
            self.wrong.append(f"{what}: {len(found)} numbers instead of {len(expected)}")
            return
        for one, other in zip(found, expected):
            # JSON has no NaN: what is no number comes as null.
            if one is None or not math.isfinite(one):
                share = math.inf
            else:
                share = abs(one - other) / (absolute + relative * abs(other))
            if share > 1:
                self.wrong.append(f"{what}: {one} instead of {other}, {share:.2f} of what is allowed")
            if share > self.worst:
                self.worst, self.where = share, what


def compare(golden, trace):
    verdict, tolerance = Verdict(), golden["tolerance"]
    names = [tensor["name"] for tensor in golden["tensors"]]
    found_names = [tensor["name"] for tensor in trace["tensors"]]
    if found_names != names:
        verdict.wrong.append(f"the tensors are {found_names} instead of {names}")
        return verdict
    verdict.hold("the number of losses", [len(trace["losses"])], [len(golden["losses_f64"])], 0.5, 0)
    for step, (found, expected, allowed) in enumerate(
            zip(trace["losses"], golden["losses_f64"], tolerance["loss_rel"])):
        if step < tolerance["stable_steps"]:
            allowed = min(allowed, STRICT)
        verdict.hold(f"the loss of step {step}", [found], [expected], 0.0, allowed)
    # Weights are seen in float32, so that small updates of them are not exact to the strictest tolerance.
    for what, limit in (("grad_norm", STRICT), ("first_update_norm", 1.0), ("final_norm", 1.0)):
        found, expected = trace[f"{what}s"], golden[f"{what}s"]
        verdict.hold(f"the number of {what}s", [len(found)], [len(expected)], 0.5, 0)
        for name, one, other, allowed in zip(names, found, expected, tolerance[f"{what}_rel"]):
            verdict.hold(f"{what} of {name}", [one], [other], 1e-12, min(allowed, limit))
    for row, (found, expected) in enumerate(zip(trace["logits"], golden["logits"])):
        verdict.hold(f"logits of sample {row}", found, expected, STRICT, 0.0)
    verdict.hold("the test accuracy", [trace["test_accuracy"]], [golden["test_accuracy"]["f64"]],
                 tolerance["accuracy_abs"], 0.0)
    return verdict


def golden_traces(folder, runner):
    """Name and content of every trace of a built-in workload, the cheap ones first."""
    listed = subprocess.run([runner, "workloads", "--json"], capture_output=True, text=True, check=True)
    workloads = {workload["name"] for workload in json.loads(listed.stdout)}
    traces = []
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".json"):
            continue
        with open(os.path.join(folder, file), encoding="utf-8") as opened:
            content = json.load(opened)
        # The vectors of the generator are no trace.
        if isinstance(content, dict) and content.get("workload") in workloads:
            traces.append((file[:-len(".json")], content))
    if not traces:
        sys.exit(f"{folder} holds no golden trace")
    return sorted(traces, key=lambda trace: (not trace[0].endswith("-small"), trace[0]))


def backends(options):
    """Name, and adapter to ask for, of every back end that runs here, or of those that were named."""
    listed = subprocess.run([options.runner, "backends", "--json"], capture_output=True, text=True, check=True)
    states = json.loads(listed.stdout)
    wanted = options.backend.split(",") if options.backend else [
        state["name"] for state in states if state["runs"] and state["name"] not in NOT_TRACED]
    # A back end without adapters has the processor, or its own devices.
    uses_adapter = {state["name"]: state["uses_adapter"] for state in states}
    return [(name, options.adapter if uses_adapter.get(name, True) else "any") for name in wanted]


def compute(options, golden, backend, adapter, seconds):
    command = [options.runner, "trace", "--workload", golden["workload"], "--backend", backend, "--adapter", adapter,
               "--seed", str(golden["seed"]), "--batch-size", str(golden["batch_size"]),
               "--steps", str(golden["steps"]), "--dropout", "on" if golden["dropout"] else "off"]
    if options.data:
        command += ["--data", options.data]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    if " is missing in " in finished.stderr:
        raise MissingData("its data set is not here")
    if finished.returncode not in (0, 3):
        raise RuntimeError(f"status {finished.returncode}: {finished.stderr.strip()}")
    return json.loads(finished.stdout)


def check(options, golden, backend, adapter, seconds):
    start = time.monotonic()
    try:
        trace = compute(options, golden, backend, adapter, seconds)
    except subprocess.TimeoutExpired:
        return {"outcome": "left out", "reason": f"it was not done after the {seconds:.0f} s that were left"}
    except MissingData as error:
        return {"outcome": "left out", "reason": str(error)}
    except (OSError, ValueError, RuntimeError) as error:
        return {"outcome": "failed", "reason": str(error)}
    verdict = compare(golden, trace)
    return {"outcome": "wrong" if verdict.wrong else "right", "share": verdict.worst, "where": verdict.where,
            "wrong": verdict.wrong, "seconds": time.monotonic() - start, "adapter": trace["adapter"]}


def report(entry):
    line = f"{entry['trace']:<26} {entry['backend']:<12} {entry['outcome']}"
    if "share" in entry:
        line += f", {entry['share']:.3f} of what is allowed at {entry['where']}, {entry['seconds']:.1f} s"
    else:
        line += f": {entry['reason']}"
    print("\n".join([line, *(f"  {text}" for text in entry.get("wrong", []))]), flush=True)


def write(entries, path):
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schema_version": 1, "traces": entries}, file, indent=1)
            file.write("\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True, metavar="FILE", help="the program native-runner")
    parser.add_argument("--golden", required=True, metavar="DIR", help="folder of the golden traces")
    parser.add_argument("--data", metavar="DIR", help="folder of the data sets [default: native-runner's own]")
    parser.add_argument("--adapter", default="any", help="as native-runner takes it [default: any]")
    parser.add_argument("--backend", metavar="A,B", help="back ends [default: all that run here]")
    parser.add_argument("--trace", metavar="PART", default="", help="only traces with this in their names")
    parser.add_argument("--time-limit", type=float, default=math.inf, metavar="X", help="seconds for all of it")
    parser.add_argument("--json", metavar="FILE", help="write what was found")
    return parser.parse_args()


def main():
    options = arguments()
    start, entries = time.monotonic(), []
    traces = [trace for trace in golden_traces(options.golden, options.runner) if options.trace in trace[0]]
    for backend, adapter in backends(options):
        for name, golden in traces:
            left = options.time_limit - (time.monotonic() - start)
            if left < 1:
                found = {"outcome": "left out", "reason": "the time was over before it began"}
            else:
                found = check(options, golden, backend, adapter, None if math.isinf(left) else left)
            entries.append({"trace": name, "backend": backend, **found})
            report(entries[-1])
            write(entries, options.json)
    counts = {outcome: sum(entry["outcome"] == outcome for entry in entries)
              for outcome in ("right", "wrong", "failed", "left out")}
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count) or "nothing was traced")
    sys.exit(3 if counts["wrong"] else 1 if counts["failed"] or not counts["right"] else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
