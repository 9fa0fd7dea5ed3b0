"""The layers, losses and rules of a job in Keras 3, whichever framework computes: what `keras_program.py` trains.

Layers are Keras's own. The rules that change weights are written out, because those of Keras 3 have epsilon elsewhere than
Keras 2 had it.
"""

import keras
import numpy as np
from keras import ops

from gradmark_program import Network, Unsupported

ACTIVATIONS = {"identity": None, "relu": "relu", "tanh": "tanh", "gelu": lambda x: keras.activations.gelu(x, False)}


def hard_sigmoid(x):
    """As in Keras 2; that of Keras 3 is another function."""
    return ops.clip(0.2 * x + 0.5, 0.0, 1.0)


class Net(keras.Model):
    """The job's layers. Values between them are (rows, height, width, channels), or (rows, channels, height, width) with the
    layout nchw."""

    def __init__(self, job):
        super().__init__()
        self.steps = [(kind, settings, reads, shape) for kind, settings, reads, shape in job.nodes()]
        self.data_format = {"nhwc": "channels_last", "nchw": "channels_first"}[job.layout]
        self.made = [make_layer(kind, settings, self.data_format) for kind, settings, _, _ in self.steps]
        self.kept = [layer for layer in self.made if layer is not None]
        self.laid, self.input_side = job.laid, job.laid(job.input_shape())

    def call(self, inputs, factors=()):
        values, factors = {-1: ops.reshape(inputs, (-1, *self.input_side))}, list(factors)
        for place, ((kind, settings, reads, shape), layer) in enumerate(zip(self.steps, self.made)):
            x = values[reads[0]]
            # These read an image in the order of their weights: channels last, as Keras's Flatten does.
            reads_last = kind in ("dense", "lstm", "embedding")
            x, side = (self.channels_last(x), shape) if reads_last else (x, self.laid(shape))
            if kind == "dropout":
                y = x * ops.reshape(factors.pop(0), (-1, *side)) if factors else x
            elif kind == "dense":
                y = layer(ops.reshape(x, (-1, int(np.prod(x.shape[1:])))))
            elif kind == "lstm":
                y = layer(ops.reshape(x, (-1, *x.shape[2:])))
            elif kind == "embedding":
                words = ops.reshape(x, (-1, x.shape[-1]))[:, settings["first"]: settings["first"] + settings["count"]]
                y = layer(ops.cast(words, "int32"))
            elif kind == "add":
                y = x + values[reads[1]]
            elif kind == "pool":
                y = pool(x, shape, self.data_format, **settings)
            elif kind == "local_response_norm":
                y = local_response_norm(x, self.data_format, **settings)
            else:
                y = layer(x)
            y = ops.reshape(y, (-1, *side))
            values[place] = self.channels_first(y) if reads_last else y
        return ops.reshape(values[len(self.steps) - 1], (-1, int(np.prod(self.steps[-1][3]))))

    def channels_last(self, x):
        return ops.transpose(x, (0, 2, 3, 1)) if self.data_format == "channels_first" else x

    def channels_first(self, x):
        return ops.transpose(x, (0, 3, 1, 2)) if self.data_format == "channels_first" else x


class Convolution(keras.layers.Conv2D):
    """Keras's, whose bias is added along the channels also where they come first. On TensorFlow `keras.ops.add`, with which
    Keras adds it, takes (1, channels, 1, 1) for a bias of the last axis where that is as long: where an image is as many pixels
    wide as it has channels, such as 32 (Keras 3.15, `add` in src/backend/tensorflow/numpy.py)."""

    def call(self, inputs):
        if self.data_format == "channels_last" or not self.use_bias:
            return super().call(inputs)
        made = self.convolution_op(inputs, self.kernel) + ops.reshape(self.bias, (1, -1, 1, 1))
        return made if self.activation is None else self.activation(made)


def make_layer(kind, settings, data_format):
    """The layer of Keras that has this one's weights; none where it has no weights."""
    activation = settings.get("activation", "identity")
    bias = "weights" in settings and settings["weights"]["bias"] is not None
    if kind == "conv2d":
        padding = settings["padding"]
        if isinstance(padding, dict):
            raise Unsupported("convolutions with a number of zeros around the image")
        sides = {"strides": settings["stride"], "padding": padding, "use_bias": bias, "data_format": data_format}
        return Convolution(settings["filters"], settings["side"], activation=ACTIVATIONS[activation], **sides)
    if kind == "dense":
        return keras.layers.Dense(settings["units"], activation=ACTIVATIONS[activation], use_bias=bias)
    if kind == "lstm":
        return keras.layers.LSTM(settings["units"], recurrent_activation=hard_sigmoid)
    if kind == "embedding":
        return keras.layers.Embedding(settings["vocabulary"], settings["units"])
    if kind in ("dropout", "pool", "local_response_norm") or (kind == "add" and activation == "identity"):
        return None
    raise Unsupported(f"the layer {kind}")


def pool(x, shape, data_format, kind, side, stride, padding, rounding, activation):
    if padding:
        raise Unsupported("pooling with a border")
    first = data_format == "channels_first"
    given = x.shape[2:] if first else x.shape[1:3]
    short = [max(0, (out - 1) * stride + side - given) for out, given in zip(shape[:2], given)]
    around = [(0, short[0]), (0, short[1])]
    around = [(0, 0), (0, 0), *around] if first else [(0, 0), *around, (0, 0)]
    of = {"strides": stride, "data_format": data_format}
    if kind == "max":
        if any(short):
            x = ops.pad(x, around, constant_values=-np.inf)
        x = ops.max_pool(x, side, **of)
    else:
        real = ops.average_pool(ops.pad(ops.ones_like(x[:1]), around), side, **of) if any(short) else 1.0
        x = ops.average_pool(ops.pad(x, around) if any(short) else x, side, **of) / real
    return x if activation == "identity" else keras.activations.get(ACTIVATIONS[activation])(x)


def local_response_norm(x, data_format, radius, bias, alpha, beta):
    axis = 1 if data_format == "channels_first" else 3
    channels = x.shape[axis]
    squares = ops.pad(x * x, [(radius, radius) if other == axis else (0, 0) for other in range(4)])
    spans = [slice(shift, shift + channels) for shift in range(2 * radius + 1)]
    total = sum(squares[:, span] if axis == 1 else squares[..., span] for span in spans)
    return x / (bias + alpha * total) ** beta


def updated(rule, weight, gradient, state, rates, multipliers):
    """A tensor and what the optimiser remembers of it after a step; `rates` are the scheduled and the corrected one."""
    name, constants = rule
    gradient = gradient + multipliers[1] * weight if multipliers[1] else gradient
    rate = rates[1] * multipliers[0]
    if name == "sgd":
        velocity = constants["momentum"] * state[0] + rate * gradient
        return weight - velocity, [velocity]
    if name == "rms_prop":
        mean = constants["rho"] * state[0] + (1 - constants["rho"]) * gradient**2
        return weight - rate * gradient / (ops.sqrt(mean) + constants["epsilon"]), [mean]
    if name == "adadelta":
        rho, epsilon = constants["rho"], constants["epsilon"]
        mean = rho * state[0] + (1 - rho) * gradient**2
        update = gradient * ops.sqrt(state[1] + epsilon) / ops.sqrt(mean + epsilon)
        return weight - rate * update, [mean, rho * state[1] + (1 - rho) * update**2]
    if name == "adam" and not constants["decoupled"]:
        mean = constants["beta1"] * state[0] + (1 - constants["beta1"]) * gradient
        square = constants["beta2"] * state[1] + (1 - constants["beta2"]) * gradient**2
        return weight - rate * mean / (ops.sqrt(square) + constants["epsilon"]), [mean, square]
    raise Unsupported(f"the rule {name}")


class KerasNetwork(Network):
    """All but what depends on the framework: `begin`, `step`, `test` and `weights`."""

    def __init__(self, job):
        if any("shares" in node for node in job.model["nodes"]):
            raise Unsupported("layers that share weights")
        if "largest_gradient" in job.optimizer:
            raise Unsupported("a limit on the length of all gradients")
        self.job, self.layout, self.model = job, job.layout, Net(job)
        self.model(*self.at_hand(job.blank_batch(1, False))[:1])
        self.variables = self.model.trainable_variables
        for variable, value in zip(self.variables, job.initial):
            variable.assign(value)
        self.rule, self.multipliers = job.rule(), job.multipliers()
        if len(self.variables) != len(job.initial):
            raise Unsupported("a layer with other weights than Keras gives it")
        count = 2 if self.rule[0] in ("adadelta", "adam") else 1
        self.initial_states = [[np.zeros_like(value) for _ in range(count)] for value in job.initial]
        self.begin()
        self.get_ready()

    def at_hand(self, batch):
        return batch.inputs, batch.labels, batch.factors, np.asarray((batch.scheduled_rate, batch.learning_rate), "f4")

    def judged(self, logits, labels):
        """Sum of the losses, and right answers."""
        settings, classes = self.job.loss, self.job.classes
        smooth = settings["label_smoothing"]
        targets = (1 - smooth) * ops.one_hot(labels, classes) + smooth / classes
        losses = -ops.sum(targets * ops.log_softmax(logits * settings["logits_scale"]))
        return losses, ops.sum(ops.cast(ops.argmax(logits, -1) == ops.cast(labels, "int32"), "int32"))

    def objective(self, inputs, labels, factors):
        """What gradients are taken of; logits, sum of the losses, and right answers."""
        logits = self.model(inputs, factors=factors)
        total, correct = self.judged(logits, labels)
        return total if self.job.loss["summed"] else total / labels.shape[0], (logits, total, correct)

    def next(self, weights, gradients, states, rates):
        together = zip(weights, gradients, states, self.multipliers)
        pairs = [updated(self.rule, weight, gradient, state, rates, each) for weight, gradient, state, each in together]
        return [weight for weight, _ in pairs], [state for _, state in pairs]

    def get_ready(self):
        """Compiles for every size of batch, and forgets what that trained."""
        for rows in self.job.batch_sizes:
            self.train([self.job.blank_batch(rows, True)] * 2)
        for rows in self.job.test_batch_sizes:
            self.evaluate([self.job.blank_batch(rows, False)])
        self.begin()

    def train(self, batches):
        results = [self.step(*self.at_hand(batch), number == len(batches) - 1) for number, batch in enumerate(batches)]
        losses, correct = zip(*results)
        return [float(loss) for loss in losses], sum(int(each) for each in correct)

    def evaluate(self, batches):
        results = [self.test(*self.at_hand(batch)[:2]) for batch in batches]
        return sum(float(loss) for loss, _ in results), sum(int(each) for _, each in results)

    def gradients(self):
        return [np.asarray(gradient) for gradient in self.last[0]]

    def logits(self):
        return np.asarray(self.last[1])
