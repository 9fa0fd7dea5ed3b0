"""PyTorch as a back end of Gradmark.

    pip install torch numpy        (or Debian's python3-torch)
    native-runner --backend wgsl,pytorch --workload keras-mnist-mlp --program pytorch

Layers and optimisers are PyTorch's own, in eager mode. Images lie channels last (PyTorch's memory format `channels_last`), or
with `--layout nchw` as PyTorch usually has them. Only the LSTM is written out, because its gates have Keras 2's hard sigmoid,
and before PyTorch 2 attention. Nothing is read back before the last step of a message.
"""

import numpy as np
import torch
import torch.nn.functional as F

from gradmark_program import Network, Unsupported, serve

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ACTIVATIONS = {"identity": lambda x: x, "relu": torch.relu, "tanh": torch.tanh, "gelu": F.gelu}


def lstm(x, kernel, recurrent, bias, units):
    """The last state of sequences (rows, steps, values)."""
    state = cell = x.new_zeros(x.shape[0], units)
    for step in torch.unbind(x @ kernel + bias, 1):
        gates, values, output = (step + state @ recurrent).split([2 * units, units, units], 1)
        keep = torch.clamp(0.2 * gates + 0.5, 0, 1)
        cell = keep[:, units:] * cell + keep[:, :units] * torch.tanh(values)
        state = torch.clamp(0.2 * output + 0.5, 0, 1) * torch.tanh(cell)
    return state


def convolution(x, kernel, bias, stride, padding, shape, side):
    """Of images as PyTorch names their sides: (rows, channels, height, width), however they lie."""
    if padding == "same":
        sides = side if isinstance(side, list) else [side, side]
        extents = zip(sides, shape[:2], x.shape[2:])
        missing = [max(0, (out - 1) * stride + side - given) for side, out, given in extents]
        x = F.pad(x, (missing[1] // 2, missing[1] - missing[1] // 2, missing[0] // 2, missing[0] - missing[0] // 2))
    zeros = padding["zeros"] if isinstance(padding, dict) else 0
    return F.conv2d(x, kernel.permute(3, 2, 0, 1), bias, stride, zeros)


def attention(x, heads, causal):
    """softmax(q·kᵀ/√d)·v of each head. The channels of tokens (rows, tokens, channels) are q, k and v."""
    queries, keys, values = x.unflatten(2, (3, heads, -1)).permute(2, 0, 3, 1, 4)
    if hasattr(F, "scaled_dot_product_attention"):
        y = F.scaled_dot_product_attention(queries, keys, values, is_causal=causal)
    else:
        scores = queries @ keys.transpose(2, 3) / queries.shape[3] ** 0.5
        if causal:
            later = torch.ones(scores.shape[2:], dtype=torch.bool, device=x.device).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        y = scores.softmax(3) @ values
    return y.transpose(1, 2)


def pool(x, shape, kind, side, stride, padding, rounding, activation):
    of = {"kernel_size": side, "stride": stride, "padding": padding, "ceil_mode": rounding == "ceil"}
    x = F.max_pool2d(x, **of) if kind == "max" else F.avg_pool2d(x, **of, count_include_pad=False)
    if tuple(x.shape[2:]) != shape[:2]:
        raise Unsupported("PyTorch leaves out windows that begin beyond the last pixel")
    return ACTIVATIONS[activation](x)


def local_response_norm(x, radius, bias, alpha, beta):
    squares = F.pad(x * x, (0, 0, 0, 0, radius, radius))
    total = sum(squares[:, shift: shift + x.shape[1]] for shift in range(2 * radius + 1))
    return x / (bias + alpha * total) ** beta


def is_pixelwise(settings):
    """True of a convolution that reads one pixel at a time, which is the same dense layer for each of them."""
    return settings["side"] == settings["stride"] == 1 and settings["padding"] in ("valid", "same", {"zeros": 0})


def channels_last_layer(kind, settings, x, weights):
    """The value of a layer of CHANNELS_LAST_LAYERS for images (rows, height, width, channels)."""
    if kind == "dense":
        return F.linear(x.flatten(1), weights[0].t(), *weights[1:])
    if kind == "pixelwise":
        return F.linear(x, weights[0][0, 0].t(), *weights[1:])
    if kind == "lstm":
        return lstm(x.flatten(0, 1), *weights, settings["units"])
    if kind == "embedding":
        words = x.flatten(1)[:, settings["first"]: settings["first"] + settings["count"]]
        return F.embedding(words.long(), *weights)
    if kind == "position_embedding":
        return x.flatten(1, 2) + weights[0]
    if kind == "layer_norm":
        return F.layer_norm(x, x.shape[3:], *weights, eps=settings["epsilon"])
    if kind == "attention":
        return attention(x.flatten(1, 2), settings["heads"], settings["causal"])
    return F.linear(x, *weights)


# Layers of images as PyTorch names their sides, whichever way they lie.
IMAGE_LAYERS = {"conv2d", "dropout", "add", "pool", "local_response_norm"}
# These read an image in the order of their weights, channels last, as Keras's Flatten does, or one pixel at a time.
CHANNELS_LAST_LAYERS = {"dense", "lstm", "embedding", "pixelwise", "layer_norm", "attention"}
CHANNELS_LAST_LAYERS |= {"position_embedding", "word_scores"}


class PyTorchNetwork(Network):
    def __init__(self, job):
        self.job, self.layout = job, job.layout
        self.own = [job.tensors_of(place) for place in range(len(job.shapes))]
        for kind, _, _, _ in job.nodes():
            if kind not in IMAGE_LAYERS | CHANNELS_LAST_LAYERS:
                raise Unsupported(f"the layer {kind}")
        self.begin()
        for rows in job.batch_sizes:
            self.train([job.blank_batch(rows, True)] * 2)
        for rows in job.test_batch_sizes:
            self.evaluate([job.blank_batch(rows, False)])
        self.begin()

    def begin(self):
        self.tensors = [torch.tensor(value, device=DEVICE, requires_grad=True) for value in self.job.initial]
        self.last, self.slopes, self.velocities, self.updates = None, None, None, 0
        name, constants = self.job.rule()
        groups = [
            {"params": [tensor], "weight_decay": decay, "times": times}
            for tensor, (times, decay) in zip(self.tensors, self.job.multipliers())
        ]
        # Groups that learn alike are one, so that PyTorch updates all their tensors at once.
        together = {}
        for group in groups:
            together.setdefault((group["weight_decay"], group["times"]), dict(group, params=[]))["params"] += group["params"]
        groups = list(together.values())
        if name == "rms_prop":
            self.rule = torch.optim.RMSprop(groups, 1.0, constants["rho"], constants["epsilon"])
        elif name == "adadelta":
            self.rule = torch.optim.Adadelta(groups, 1.0, constants["rho"], constants["epsilon"])
        elif name == "adam":
            rule = torch.optim.AdamW if constants["decoupled"] else torch.optim.Adam
            self.rule = rule(groups, 1.0, (constants["beta1"], constants["beta2"]), constants["epsilon"])
        elif name == "sgd":
            # Caffe's momentum has the rate inside, which matters where the rate changes.
            self.rule = torch.optim.SGD(groups, 1.0)
            self.velocities = [torch.zeros_like(tensor) for tensor in self.tensors]
        else:
            raise Unsupported(f"the rule {name}")

    def named(self, values, shape):
        """Values that lie in the job's layout, with their sides as PyTorch names them."""
        images = values.reshape(-1, *self.job.laid(shape))
        return images if self.layout == "nchw" else images.permute(0, 3, 1, 2)

    def forward(self, inputs, factors):
        """Logits (answers, classes)."""
        factors = iter(factors)
        values = {-1: self.named(inputs, self.job.input_shape())}
        for place, (kind, settings, reads, shape) in enumerate(self.job.nodes()):
            given = [values[read] for read in reads]
            weights = [self.tensors[number] for number in self.own[place]]
            activation = ACTIVATIONS[settings.get("activation", "identity")]
            if kind == "conv2d" and self.layout == "nhwc" and is_pixelwise(settings):
                kind = "pixelwise"
            if kind in CHANNELS_LAST_LAYERS:
                y = channels_last_layer(kind, settings, given[0].permute(0, 2, 3, 1), weights)
                y = activation(y).reshape(-1, *shape).permute(0, 3, 1, 2)
            elif kind == "dropout":
                factor = next(factors, None)
                y = given[0] if factor is None else given[0] * self.named(factor, shape)
            elif kind == "conv2d":
                kernel, bias = weights if len(weights) == 2 else (*weights, None)
                y = convolution(given[0], kernel, bias, settings["stride"], settings["padding"], shape, settings["side"])
                y = activation(y)
            elif kind == "add":
                y = activation(given[0] + given[1])
            elif kind == "pool":
                y = pool(given[0], shape, **settings)
            else:
                y = local_response_norm(given[0], **settings)
            values[place] = y
        return y.permute(0, 2, 3, 1).reshape(-1, self.job.classes)

    def judged(self, batch, factors):
        """Logits, sum of the losses, and right answers."""
        inputs, labels = torch.tensor(batch.inputs, device=DEVICE), torch.tensor(batch.labels, device=DEVICE).long()
        logits = self.forward(inputs, [torch.tensor(factor, device=DEVICE) for factor in factors])
        loss = self.job.loss
        scaled = logits * loss["logits_scale"] if loss["logits_scale"] != 1 else logits
        total = F.cross_entropy(scaled, labels, reduction="sum", label_smoothing=loss["label_smoothing"])
        return logits, total, (logits.argmax(1) == labels).sum()

    def step(self, batch, keeps):
        """Trains on a batch, and keeps what a check may ask for if `keeps`."""
        self.rule.zero_grad(set_to_none=True)
        logits, total, correct = self.judged(batch, batch.factors)
        answers = len(batch.labels)
        (total if self.job.loss["summed"] else total / answers).backward()
        limit = self.job.optimizer.get("largest_gradient")
        if keeps:
            self.last = logits
            self.slopes = [tensor.grad.clone() if limit else tensor.grad for tensor in self.tensors]
        if limit:
            torch.nn.utils.clip_grad_norm_(self.tensors, limit)
        self.updates += 1
        for group in self.rule.param_groups:
            group["lr"] = group["times"] * batch.scheduled_rate
            if "betas" in group:
                # PyTorch adds epsilon to the corrected root, and the definition to the root as it is.
                group["eps"] = self.job.rule()[1]["epsilon"] / (1 - group["betas"][1] ** self.updates) ** 0.5
        if self.velocities is None:
            self.rule.step()
        else:
            self.descend(batch.scheduled_rate)
        return total.detach() / answers, correct

    @torch.no_grad()
    def descend(self, rate):
        momentum = self.job.rule()[1]["momentum"]
        for tensor, velocity, (times, decay) in zip(self.tensors, self.velocities, self.job.multipliers()):
            gradient = tensor.grad.add(tensor, alpha=decay) if decay else tensor.grad
            velocity.mul_(momentum).add_(gradient, alpha=rate * times)
            tensor.sub_(velocity)

    def train(self, batches):
        losses, correct = zip(*[self.step(batch, batch is batches[-1]) for batch in batches])
        return torch.stack(losses).tolist(), int(torch.stack(correct).sum())

    @torch.no_grad()
    def evaluate(self, batches):
        results = [self.judged(batch, [])[1:] for batch in batches]
        return float(sum(total for total, _ in results)), int(sum(correct for _, correct in results))

    def weights(self):
        return [tensor.detach().cpu().numpy() for tensor in self.tensors]

    def gradients(self):
        return [slope.cpu().numpy() for slope in self.slopes]

    def logits(self):
        return self.last.detach().cpu().numpy()


def main():
    name, kind = (torch.cuda.get_device_name(), "discrete") if DEVICE.type == "cuda" else ("cpu", "cpu")
    version = f"PyTorch {torch.__version__}"
    serve(
        {"framework": "PyTorch", "version": version, "device": name, "device_kind": kind},
        lambda job: (PyTorchNetwork(job), [f"framework: {version}", "mode: eager"]),
    )


if __name__ == "__main__":
    main()
