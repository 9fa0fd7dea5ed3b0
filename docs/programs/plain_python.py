"""Softmax regression with SGD in plain Python: an example of an external program (docs/EXTERNAL.md)."""

import array, json, math, sys, time


class Network:
    """A dense layer. Its bias is the last row of its weights, and reads 1."""

    def __init__(self, message, payload):
        [layer, *others] = [node["layer"] for node in message["model"]["nodes"]]
        self.rule, self.classes = message["optimizer"]["rule"], message["classes"]
        if others or "dense" not in layer or "sgd" not in self.rule or message["optimizer"]["weight_decay"]:
            raise NotImplementedError("it has a single dense layer and SGD, and nothing else")
        numbers = array.array("f", payload).tolist()
        self.weights = [numbers[at : at + self.classes] for at in range(0, len(numbers), self.classes)]
        self.velocities = [[0.0] * self.classes for _ in self.weights]
        self.logits, self.gradients = [], []

    def batches(self, sizes, payload):
        at, size = 0, 4 * (len(self.weights) - 1)
        for rows in sizes:
            labels = array.array("I", payload[at + rows * size : at + rows * (size + 4)])
            samples = [array.array("f", payload[at + row * size : at + (row + 1) * size]) for row in range(rows)]
            # Most pixels are 0.
            samples = [[(i, x) for i, x in enumerate([*sample, 1.0]) if x] for sample in samples]
            yield list(zip(samples, labels))
            at += rows * (size + 4)

    def judge(self, sample, label):
        """Logits, loss, whether the answer is right, and the gradient of the logits."""
        logits = [0.0] * self.classes
        for i, x in sample:
            logits = [logit + x * weight for logit, weight in zip(logits, self.weights[i])]
        powers = [math.exp(logit - max(logits)) for logit in logits]
        loss = math.log(sum(powers)) + max(logits) - logits[label]
        gradient = [power / sum(powers) - (k == label) for k, power in enumerate(powers)]
        return logits, loss, logits[label] == max(logits), gradient

    def train(self, batches, steps):
        losses, correct = [], 0
        for batch, step in zip(batches, steps):
            judged = [self.judge(*each) for each in batch]
            self.logits, found, right, slopes = zip(*judged)
            self.gradients = [[0.0] * self.classes for _ in self.weights]
            for (sample, _), slope in zip(batch, slopes):
                for i, x in sample:
                    self.gradients[i] = [g + x * s / len(batch) for g, s in zip(self.gradients[i], slope)]
            momentum, rate = self.rule["sgd"]["momentum"], step["learning_rate"]
            for i, (speeds, slope) in enumerate(zip(self.velocities, self.gradients)):
                self.velocities[i] = [momentum * v + rate * g for v, g in zip(speeds, slope)]
                self.weights[i] = [w - v for w, v in zip(self.weights[i], self.velocities[i])]
            losses, correct = [*losses, sum(found) / len(batch)], correct + sum(right)
        return {"losses": losses, "correct": correct}

    def evaluate(self, batches, _):
        judged = [self.judge(*each)[1:3] for batch in batches for each in batch]
        return {"loss": sum(loss for loss, _ in judged), "correct": sum(right for _, right in judged)}


def answer(networks, message, payload):
    """The header of the answer, and the rows of numbers that follow it."""
    kind, received = message["message"], time.perf_counter()
    if kind == "hello":
        return {"protocol": 1, "framework": "Python", "version": sys.version.split()[0], "device": "cpu"}, []
    if kind == "build":
        networks[message["network"]] = Network(message, payload)
        return {}, []
    network = networks[message["network"]]
    if kind in ("train", "evaluate"):
        sizes = message["rows"] if kind == "evaluate" else [step["rows"] for step in message["steps"]]
        batches = list(network.batches(sizes, payload))
        began = time.perf_counter()
        header = getattr(network, kind)(batches, message.get("steps"))
        # Python has finished here. What works asynchronously must be waited for before the clock is read.
        seconds = time.perf_counter() - began
        return {**header, "preparing_seconds": began - received, "seconds": seconds}, []
    rows = {"weights": network.weights, "gradients": network.gradients, "logits": network.logits[: message.get("rows")]}
    return {}, rows[kind]


networks = {}
while line := sys.stdin.buffer.readline():
    message = json.loads(line)
    payload = sys.stdin.buffer.read(message["bytes"])
    if message["message"] == "forget":
        networks.pop(message["network"])
        continue
    try:
        header, rows = answer(networks, message, payload)
    except NotImplementedError as lack:
        header, rows = {"error": str(lack), "cause": "unsupported"}, []
    numbers = array.array("f", [number for row in rows for number in row]).tobytes()
    line = json.dumps({**header, "bytes": len(numbers)})
    sys.stdout.buffer.write(line.encode() + b"\n" + numbers)
    sys.stdout.buffer.flush()
