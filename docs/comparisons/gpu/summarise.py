#!/usr/bin/env python3
"""Turns what `job.sh` left in a folder into one page: the targets first, then the tables behind them.

    python3 summarise.py FOLDER > summary.md
    python3 summarise.py --slowest FOLDER      the network that a profile helps most

What was not measured is named, never left blank without a word.
"""
import json
import os
import sys
from statistics import mean

SQUARES = ("1024 × 1024 × 1024", "4096 × 4096 × 4096")
LANGUAGE = ("gpt-nano", "gpt-small")
PEAK_SHARE = 0.6
AIRBENCH_SECONDS = 15.0
MATRIX_FLOPS = 100e12
# With fewer samples, launches take most of a step.
SMALLEST_BATCH = 32


class Results:
    """The JSON files of a folder; one that is missing or cut off is empty."""

    def __init__(self, folder):
        self.folder, self.broken = folder, []

    def read(self, name):
        path = os.path.join(self.folder, name)
        try:
            with open(path, encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return {}
        except ValueError:
            if os.path.getsize(path):
                self.broken.append(name)
            return {}


def steps_of(document):
    """Entries by workload and back end, with the batch size beside them."""
    return {(workload["workload"], entry["backend"]): {**entry, "batch_size": size["batch_size"]}
            for workload in document.get("workloads", []) for size in workload["sizes"] for entry in size["entries"]}


def pytorch_of(document):
    return {entry["workload"]: entry for entry in document.get("workloads", [])}


def samples(entry):
    return entry.get("samples_per_second") if entry and entry.get("outcome") == "measured" else None


def table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "|---" + "|---:" * (len(titles) - 1) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def number(value):
    return "–" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def percent(value, digits=1):
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def judged(fits):
    return "not measured" if fits is None else "met" if fits else "**missed**"


def beside_pytorch(name, ours, eager, at_least):
    """Whether our samples per second are at least such a share of eager PyTorch's."""
    wgsl, torch = ours.get((name, "wgsl")), eager.get(name)
    mine, theirs = samples(wgsl), samples(torch)
    if mine is None or theirs is None:
        return "–", None
    if wgsl["batch_size"] != torch["batch_size"]:
        return f"batches of {wgsl['batch_size']} and {torch['batch_size']} do not compare", None
    text = f"{number(mine)} and {number(theirs)} samples/s, {mine / theirs:.2f} times as many"
    return text, mine >= at_least * theirs


def of_the_peak(size, entries):
    """Whether all three passes of a product reach the share of the peak."""
    shares = {entry["pass"]: entry.get("peak_share") for entry in entries
              if entry["size"] == size and entry["outcome"] == "measured"}
    if len(shares) < 3 or None in shares.values():
        known = any(entry["size"] == size for entry in entries)
        return "skipped or cut off" if known else "no product of this size" if entries else "–", None
    text = ", ".join(f"{name.replace('_', ' ')} {percent(share)}" for name, share in shares.items())
    return text, min(shares.values()) >= PEAK_SHARE


def airbench_runs(results, names):
    """What became of every run, and how fast."""
    runs = []
    for name in names:
        record = results.read(name)
        for workload in record.get("workloads", []):
            last = (workload["evaluations"] or [{}])[-1]
            kind = workload["outcome"]["kind"]
            runs.append({
                "ended": "" if kind == "completed" else f", {kind}",
                "precision": workload["settings"]["precision"], "seed": record["requested"]["seed"],
                "accuracy": last.get("accuracy"), "training": workload["summary"]["training_seconds"],
                "testing": last.get("seconds"), "reached": (workload["target"] or {}).get("reached_seconds")})
    return runs


def airbench_verdict(runs):
    if not any(run["accuracy"] for run in runs):
        return "–", None
    reached = [run["reached"] for run in runs if run["reached"] is not None]
    if not reached:
        best = max(run["accuracy"] or 0 for run in runs)
        return f"94 % was not reached in {len(runs)} runs; the best had {percent(best, 2)}", False
    text = f"in {len(reached)} of {len(runs)} runs, the fastest after {min(reached):.2f} s of training"
    return text, min(reached) < AIRBENCH_SECONDS


def matrix_units(ours):
    """Return whether a step with matrix units is fast enough, from its counted operations."""
    rates = {name: entry["flops_per_second"] for (name, backend), entry in ours.items()
             if backend == "wgsl f16-matrix" and entry["outcome"] == "measured"}
    if not rates:
        return "–", None
    best = max(rates, key=rates.get)
    return f"{rates[best] / 1e12:.1f} TFLOP/s in a step of {best}", rates[best] >= MATRIX_FLOPS


def slowest(ours, eager):
    """The network with the worst ratio to eager PyTorch, or else with the smallest share of the peak."""
    measured = {name: entry for (name, backend), entry in ours.items()
                if backend == "wgsl" and samples(entry) and entry["batch_size"] >= SMALLEST_BATCH}
    ratios = {name: samples(entry) / samples(eager[name]) for name, entry in measured.items()
              if samples(eager.get(name)) and eager[name]["batch_size"] == entry["batch_size"]}
    ratios = ratios or {name: entry["peak_share"] for name, entry in measured.items() if entry.get("peak_share")}
    return min(ratios, key=ratios.get) if ratios else None


def targets(ours, eager, products, runs, software):
    lines = [("`keras-mnist-mlp` no slower than eager PyTorch", *beside_pytorch("keras-mnist-mlp", ours, eager, 1.0)),
             ("`keras-mnist-cnn` at most 1.5 times as slow", *beside_pytorch("keras-mnist-cnn", ours, eager, 1 / 1.5))]
    lines += [(f"`{name}` no slower than eager PyTorch", *beside_pytorch(name, ours, eager, 1.0)) for name in LANGUAGE]
    lines += [(f"{size} at {100 * PEAK_SHARE:.0f} % of the peak", *of_the_peak(size, products)) for size in SQUARES]
    lines.append((f"f16-matrix at {MATRIX_FLOPS / 1e12:.0f} TFLOP/s or more on an H100", *matrix_units(ours)))
    lines.append((f"`airbench94` to 94 % in less than {AIRBENCH_SECONDS:.0f} s", *airbench_verdict(runs)))
    verdict = (lambda _: "a rehearsal") if software else judged
    return ["## Targets", "", *table(["Target", "Measured", ""], [(a, b, verdict(c)) for a, b, c in lines]), ""]


def every_network(names, ours, frameworks):
    """A row for each workload: samples per second on every back end, and ours over each of PyTorch's."""
    backends = list(dict.fromkeys(backend for _, backend in ours))
    titles = ["Network", "Batch", *backends, "`wgsl` of peak", *frameworks,
              *(f"`wgsl` / {title}" for title in frameworks)]
    rows = []
    for name in names:
        entries = [ours.get((name, backend)) for backend in backends]
        theirs = [found.get(name) for found in frameworks.values()]
        wgsl, of_peak = samples(ours.get((name, "wgsl"))), (ours.get((name, "wgsl")) or {}).get("peak_share")
        batches = {entry["batch_size"] for entry in entries + theirs if samples(entry)}
        same_batch = (ours.get((name, "wgsl")) or {}).get("batch_size")
        ratios = [f"{wgsl / samples(entry):.2f}" if wgsl and samples(entry) and entry["batch_size"] == same_batch
                  else "–" for entry in theirs]
        rows.append([f"`{name}`", ", ".join(map(str, sorted(batches))) or "–",
                     *(number(samples(one)) for one in entries), percent(of_peak),
                     *(number(samples(one)) for one in theirs), *ratios])
    return ["## Samples a second", "", *table(titles, rows), ""] if rows else []


def untimed(workloads, ours, frameworks):
    """Whatever has no figure, with its reason, and whatever makes a figure doubtful."""
    known = [(f"{name} on {backend}", entry) for (name, backend), entry in ours.items()]
    known += [(f"{name}, {title}", entry) for title, found in frameworks.items() for name, entry in found.items()]
    lines = []
    for who, entry in known:
        if entry["outcome"] != "measured":
            reason = entry.get("reason") or entry.get("message") or entry.get("what") or "no reason was given"
            lines.append(f"- {who}: {entry['outcome'].replace('_', ' ')}: {reason.splitlines()[0]}")
        elif entry.get("losses_are_finite") is False:
            lines.append(f"- {who}: its loss is not a finite number")
    for backend in dict.fromkeys(backend for _, backend in ours):
        missing = [name for name in workloads if (name, backend) not in ours]
        lines += [f"- {', '.join(missing)} on {backend}: not reached"] if missing else []
    for title, found in frameworks.items():
        lines += [f"- {name}, {title}: {entry['parameters']} parameters, and {workloads[name]} in native-runner"
                  for name, entry in found.items()
                  if name in workloads and entry.get("parameters", workloads[name]) != workloads[name]]
    return ["Without a figure, or with a caution:", "", *lines, ""] if lines else []


def kernels(title, document):
    entries = [entry for entry in document.get("entries", []) if entry["outcome"] == "measured"]
    peaks = [peak for peak in (document.get("peaks") or {}).values() if peak]
    lines = [f"- {peak['title']}: {peak['value']:.4g} {peak['unit'].replace('_', ' ')} ({peak['variant']})"
             for peak in peaks]
    rows = [[f"{entry['suite']} {entry['size']}, {entry['pass'].replace('_', ' ')}",
             f"{entry['flops_per_second'] / 1e9:,.1f} GFLOP/s", percent(entry.get("peak_share"))] for entry in entries]
    wrong = [f"- **wrong**: {entry['suite']} {entry['size']}, {entry['pass']}"
             for entry in document.get("entries", []) if entry["outcome"] == "wrong"]
    if not lines and not rows and not wrong:
        return []
    rows = table(["Product", "Rate", "Of the peak"], rows) if rows else []
    return [f"## Kernels in f32: {title}", "", *lines, *wrong, "", *rows, ""]


def airbench(runs):
    if not runs:
        return []
    rows = [[run["precision"] + run["ended"], str(run["seed"]), percent(run["accuracy"], 2), number(run["reached"]),
             number(run["training"]), number(run["testing"])] for run in runs]
    means = [f"{precision}: {percent(mean(found), 2)} on average"
             for precision in dict.fromkeys(run["precision"] for run in runs)
             if (found := [run["accuracy"] for run in runs if run["precision"] == precision and run["accuracy"]])]
    titles = ["Precision", "Seed", "Accuracy", "Seconds to 94 %", "Seconds of training", "Seconds of the last test"]
    return ["## airbench94", "", *table(titles, rows), "", *means, ""]


def browser(document):
    rows = [[f"`{entry['workload']}`", number(entry["native_samples_per_second"]),
             number(entry["browser_samples_per_second"]), f"{entry['native_over_browser']:.2f}",
             " and ".join(adapter["name"] for adapter in entry["adapters"])]
            for entry in document.get("workloads", []) if "native_over_browser" in entry]
    titles = ["Network", "native-runner, samples/s", "The page, samples/s", "Ratio", "Adapters"]
    return [f"## {document['browser']}, window on: {document['window']}", "", *table(titles, rows), ""] if rows else []


def traces(entries):
    lines = [f"- {entry['trace']} on {entry['backend']}: {entry['outcome']}: "
             f"{(entry.get('wrong') or [entry.get('reason', '')])[0]}" for entry in entries
             if entry["outcome"] != "right"]
    worst = {}
    for entry in entries:
        if "share" in entry:
            worst.setdefault(entry["backend"], []).append(entry["share"])
    lines = [f"- {backend}: {len(shares)} computed, at most {max(shares):.3f} of what is allowed"
             for backend, shares in worst.items()] + lines
    return ["## Golden traces", "", *lines, ""] if lines else []


def devices(adapters, torch):
    lines = [f"- {adapter['name']} ({adapter['api']}, {adapter['driver']})" for adapter in adapters]
    if torch:
        lines.append(f"- {torch['framework']}: {torch['device']['name']}, cuDNN {torch['cudnn']}")
    return ["## Devices", "", *lines, ""] if lines else []


def main():
    if len(sys.argv) < 2 or not os.path.isdir(sys.argv[-1]):
        sys.exit("usage: summarise.py [--slowest] FOLDER, the folder that job.sh wrote to")
    results = Results(sys.argv[-1])
    files = sorted(name for name in os.listdir(sys.argv[-1]) if name.endswith(".json"))
    ours, software = {}, False
    for name in (name for name in files if name.startswith("steps-")):
        document = results.read(name)
        software = software or any(one["adapter"]["software"] for one in document.get("contenders", []))
        ours.update(steps_of(document))
    documents = {"PyTorch, eager": results.read("pytorch-eager.json"),
                 "PyTorch, compiled": results.read("pytorch-compiled.json"),
                 "PyTorch, CUDA graphs": results.read("pytorch-graphs.json")}
    frameworks = {title: pytorch_of(document) for title, document in documents.items() if document}
    eager = frameworks.get("PyTorch, eager", {})
    if "--slowest" in sys.argv:
        print(slowest(ours, eager) or "")
        return
    products = results.read("kernels.json")
    workloads = {workload["name"]: workload["parameters"] for workload in results.read("workloads.json") or []}
    named = [*workloads, *(name for name, _ in ours), *(name for found in frameworks.values() for name in found)]
    runs = airbench_runs(results, [name for name in files if name.startswith("airbench94-")])
    lines = ["# What was measured", ""]
    lines += ["A rehearsal on a software adapter, which says nothing about a GPU.", ""] if software else []
    lines += targets(ours, eager, products.get("entries", []), runs, software)
    lines += devices(results.read("adapters.json") or [], documents["PyTorch, eager"])
    found = [results.read(name).get("traces", []) for name in files if name.startswith("traces")]
    lines += traces([entry for entries in found for entry in entries])
    lines += every_network(list(dict.fromkeys(named)), ours, frameworks) + untimed(workloads, ours, frameworks)
    for title, name in (("peaks", "kernels-peaks"), ("products", "kernels"), ("convolutions", "kernels-conv"),
                        ("LSTMs", "kernels-rnn")):
        lines += kernels(title, results.read(f"{name}.json"))
    lines += airbench(runs) + browser(results.read("browser.json"))
    lines += [f"{name} is not whole, so that nothing of it is here." for name in results.broken]
    print("\n".join(lines).rstrip())


if __name__ == "__main__":
    main()
