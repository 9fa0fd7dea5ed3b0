"""What the programs here share: messages on standard input and output, as docs/EXTERNAL.md defines them, and batches.

A program calls `serve(introduction, build)`. `build(job)` returns a network with the methods of `Network`.
"""

import json
import os
import sys
import time
import traceback
from dataclasses import dataclass

import numpy as np

PROTOCOL = 1
LAYOUTS = ("nhwc", "nchw")


class Unsupported(Exception):
    """A layer, rule or loss that the program does not have."""


@dataclass
class Batch:
    """Samples as (rows, features), the labels of their answers, and a factor for each value that a dropout layer sees: 0 for
    what it drops, 1 / (1 - rate) for what survives. In tests there are no factors."""

    inputs: np.ndarray
    labels: np.ndarray
    factors: list
    scheduled_rate: float = 0.0
    learning_rate: float = 0.0


class Network:
    """What a framework has to do. Lists of tensors are in the order and the layout of the job's `tensors`."""

    # How images lie in it, one of LAYOUTS, where it has a choice and has done as the job says.
    layout = None

    def train(self, batches):
        """Trains a step on each batch. Returns the losses before the updates and how many answers were right."""
        raise NotImplementedError

    def evaluate(self, batches):
        """Returns the sum of the answers' losses and how many were right."""
        raise NotImplementedError

    def weights(self):
        raise NotImplementedError

    def gradients(self):
        """Those of the last training step."""
        raise NotImplementedError

    def logits(self):
        """Those of the last training step, (answers, classes)."""
        raise NotImplementedError


class Job:
    """A network with all that training it takes, as the message `build` has it, and start values of its tensors."""

    def __init__(self, header, payload):
        self.model, self.shapes, self.tensors = header["model"], header["shapes"], header["tensors"]
        self.loss, self.optimizer, self.classes = header["loss"], header["optimizer"], header["classes"]
        self.positions = header["positions"]
        self.batch_sizes, self.test_batch_sizes = header["batch_sizes"], header["test_batch_sizes"]
        self.dropouts = header["dropouts"]
        self.layout = header.get("layout", LAYOUTS[0])
        if self.layout not in LAYOUTS:
            raise Unsupported(f"the layout {self.layout}")
        self.features = size(self.model["input"])
        for tensor in self.tensors:
            if tensor["kind"] != "trained":
                raise Unsupported(f"{tensor['name']} is not trained by the optimiser")
        values = np.frombuffer(payload, "<f4")
        ends = np.cumsum([np.prod(tensor["shape"]) for tensor in self.tensors])
        parts = np.split(values, ends[:-1])
        self.initial = [part.reshape(tensor["shape"]) for part, tensor in zip(parts, self.tensors)]

    def nodes(self):
        """Kind, settings, what it reads (-1 for the data) and (height, width, channels) of each layer."""
        for node, shape in zip(self.model["nodes"], self.shapes):
            layer = node["layer"]
            (kind, settings), = [(layer, {})] if isinstance(layer, str) else layer.items()
            if settings.get("zero_padding"):
                raise Unsupported(f"the layer {kind} with padding that has no vector")
            reads = [-1 if source == "data" else source["node"] for source in node["inputs"]]
            yield kind, settings, reads, (shape["height"], shape["width"], shape["channels"])

    def tensors_of(self, place):
        """Numbers of the tensors of a layer, which may be those of an earlier one."""
        owner = self.model["nodes"][place].get("shares", place)
        return [number for number, tensor in enumerate(self.tensors) if tensor["layer"] == owner]

    def rule(self):
        """Name and constants of the optimiser's rule."""
        (name, constants), = self.optimizer["rule"].items()
        return name, constants

    def multipliers(self):
        """For each tensor: of the learning rate, and the weight decay."""
        decay = self.optimizer["weight_decay"]
        for tensor in self.tensors:
            if tensor["multipliers"]["frozen_from"] is not None:
                raise Unsupported("tensors that are frozen on the way")
        of = [tensor["multipliers"] for tensor in self.tensors]
        return [(each["learning_rate"], decay * each["weight_decay"]) for each in of]

    def laid(self, shape):
        """The sides of an image, (height, width, channels), in the order of the layout."""
        height, width, channels = shape
        return (channels, height, width) if self.layout == "nchw" else (height, width, channels)

    def laid_out(self, values, shape):
        """Images (rows, height · width · channels) in the order of the layout."""
        if self.layout == "nhwc":
            return values
        return np.ascontiguousarray(values.reshape(-1, *shape).transpose(0, 3, 1, 2)).reshape(len(values), -1)

    def input_shape(self):
        return tuple(self.model["input"][side] for side in ("height", "width", "channels"))

    def batches(self, sizes, payload, steps=None):
        """The batches of a message, as the layout has them."""
        at, found = 0, []

        def take(kind, rows, columns):
            nonlocal at
            values = np.frombuffer(payload, kind, rows * columns, at).reshape(rows, columns)
            at += values.nbytes
            return values

        for number, rows in enumerate(sizes):
            inputs = self.laid_out(take("<f4", rows, self.features), self.input_shape())
            labels, factors = take("<u4", rows, self.positions).ravel().astype("i4"), []
            step = steps[number] if steps else {}
            for place in self.dropouts if steps else []:
                rate = self.model["nodes"][place["node"]]["layer"]["dropout"]["rate"]
                kept = take("u1", rows, place["features"]).astype("f4") / np.float32(1 - rate)
                shape = self.shapes[place["node"]]
                factors.append(self.laid_out(kept, (shape["height"], shape["width"], shape["channels"])))
            found.append(Batch(inputs, labels, factors, step.get("scheduled_rate", 0.0), step.get("learning_rate", 0.0)))
        return found

    def blank_batch(self, rows, training):
        """One to get ready with."""
        factors = [np.ones((rows, place["features"]), "f4") for place in self.dropouts] if training else []
        return Batch(np.zeros((rows, self.features), "f4"), np.zeros(rows * self.positions, "i4"), factors)


def size(shape):
    return shape["height"] * shape["width"] * shape["channels"]


def answer(networks, build, message, payload):
    """The answer to a message: its header, and the arrays that follow it."""
    kind, number, received = message["message"], message.get("network"), time.perf_counter()
    if kind == "build":
        begin = time.perf_counter()
        job = Job(message, payload)
        network, settings = build(job)
        networks[number] = job, network
        header = {"compiling_seconds": time.perf_counter() - begin, "settings": settings}
        return {**header, "layout": network.layout} if network.layout else header, []
    job, network = networks[number]
    if kind == "train":
        batches = job.batches([step["rows"] for step in message["steps"]], payload, message["steps"])
        begin = time.perf_counter()
        losses, correct = network.train(batches)
        seconds = time.perf_counter() - begin
        losses = [float(loss) if np.isfinite(loss) else None for loss in losses]
        times = {"preparing_seconds": begin - received, "seconds": seconds}
        return {"losses": losses, "correct": int(correct), **times}, []
    if kind == "evaluate":
        batches = job.batches(message["rows"], payload)
        begin = time.perf_counter()
        loss, correct = network.evaluate(batches)
        seconds = time.perf_counter() - begin
        times = {"preparing_seconds": begin - received, "seconds": seconds}
        return {"loss": float(loss) if np.isfinite(loss) else None, "correct": int(correct), **times}, []
    if kind == "logits":
        return {}, [network.logits()[: message["rows"]]]
    return {}, network.weights() if kind == "weights" else network.gradients()


def serve(introduction, build):
    """Answers messages until standard input ends. What libraries print goes to standard error."""
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    networks = {}
    while line := source.readline():
        message = json.loads(line)
        payload, arrays = source.read(message.get("bytes", 0)), []
        if message["message"] == "forget":
            networks.pop(message["network"], None)
            continue
        try:
            if message["message"] == "hello":
                header = {"protocol": PROTOCOL, **introduction}
            else:
                header, arrays = answer(networks, build, message, payload)
        except Unsupported as lack:
            header = {"error": str(lack), "cause": "unsupported"}
        except MemoryError as lack:
            header = {"error": str(lack) or "no memory is left", "cause": "out_of_memory"}
        except Exception as fault:  # noqa: BLE001: every error is sent to the client
            traceback.print_exc()
            header = {"error": f"{type(fault).__name__}: {fault}", "cause": "failed"}
        arrays = [np.ascontiguousarray(array, "<f4").tobytes() for array in arrays]
        header["bytes"] = sum(map(len, arrays))
        sink.write(json.dumps(header).encode() + b"\n" + b"".join(arrays))
        sink.flush()
