"""Gradmark's eighteen workloads in PyTorch, each as a textbook would write it: layers, loss and optimiser.

Nothing here is tuned: no fused optimiser, no channels-last memory, no mixed precision. What the published recipes do
to images (shifts, mirrors, crops) and to the learning rate from step to step is left out; README.md lists every
difference.
"""
import math
from dataclasses import dataclass
from functools import partial
from typing import Callable, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import nn


# Kinds of characters of Moby Dick.
CHARACTERS = 80


# ---------------------------------------------------------------- Keras 2.0.8, examples
def keras_mnist_mlp():
    return nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Dropout(0.2),
        nn.Linear(512, 512), nn.ReLU(), nn.Dropout(0.2),
        nn.Linear(512, 10))


def keras_mnist_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(),
        nn.Conv2d(32, 64, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(),
        nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(128, 10))


def keras_cifar10_cnn():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(),
        nn.Conv2d(32, 32, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Dropout(0.25),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
        nn.Conv2d(64, 64, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(),
        nn.Linear(2304, 512), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(512, 10))


class Lstm(nn.Module):
    """The last hidden state of an LSTM. Its gates are logistic, where Keras 2 has hard sigmoids."""

    def __init__(self, inputs, units):
        super().__init__()
        self.lstm = nn.LSTM(inputs, units, batch_first=True)
        # PyTorch adds two biases where Keras has one: the second stays zero.
        nn.init.zeros_(self.lstm.bias_hh_l0).requires_grad_(False)

    def forward(self, x):
        _, (hidden, _) = self.lstm(x)
        return hidden[-1]


class KerasMnistHierarchicalRnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.pixels, self.rows, self.dense = Lstm(1, 128), Lstm(128, 128), nn.Linear(128, 10)

    def forward(self, images):
        rows = self.pixels(images.reshape(-1, 28, 1)).reshape(-1, 28, 128)
        return self.dense(self.rows(rows))


class KerasBabiRnn(nn.Module):
    STORY, VOCABULARY, UNITS = 552, 36, 50

    def __init__(self):
        super().__init__()
        self.story = nn.Embedding(self.VOCABULARY, self.UNITS)
        self.question = nn.Embedding(self.VOCABULARY, self.UNITS)
        self.reads_question, self.reads_story = Lstm(self.UNITS, self.UNITS), Lstm(self.UNITS, self.UNITS)
        self.dropout, self.dense = nn.Dropout(0.3), nn.Linear(self.UNITS, self.VOCABULARY)

    def forward(self, words):
        story = self.dropout(self.story(words[:, :self.STORY]))
        question = self.reads_question(self.dropout(self.question(words[:, self.STORY:])))
        answer = self.reads_story(story + question.unsqueeze(1))
        return self.dense(self.dropout(answer))


# ---------------------------------------------------------------- TensorFlow's tutorials
def tensorflow_mnist():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(3136, 1024), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(1024, 10))


def tensorflow_cifar10():
    # PyTorch divides alpha by the size of the window, TensorFlow does not: alpha is 0.001 / 9 there.
    normalise = partial(nn.LocalResponseNorm, 9, alpha=0.001, beta=0.75, k=1.0)
    # "Same" padding of a 3x3 window with stride 2 on an even side adds to the bottom and the right only.
    pool = partial(nn.MaxPool2d, 3, 2, ceil_mode=True)
    return nn.Sequential(
        nn.Conv2d(3, 64, 5, padding=2), nn.ReLU(), pool(), normalise(),
        nn.Conv2d(64, 64, 5, padding=2), nn.ReLU(), normalise(), pool(), nn.Flatten(),
        nn.Linear(2304, 384), nn.ReLU(),
        nn.Linear(384, 192), nn.ReLU(),
        nn.Linear(192, 10))


# ---------------------------------------------------------------- Caffe's examples
def caffe_mnist():
    return nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.MaxPool2d(2),
        nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(800, 500), nn.ReLU(),
        nn.Linear(500, 10))


def caffe_cifar10():
    return nn.Sequential(
        nn.Conv2d(3, 32, 5, padding=2), nn.MaxPool2d(3, 2, ceil_mode=True), nn.ReLU(),
        nn.Conv2d(32, 32, 5, padding=2), nn.ReLU(), nn.AvgPool2d(3, 2, ceil_mode=True),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.AvgPool2d(3, 2, ceil_mode=True), nn.Flatten(),
        nn.Linear(1024, 64),
        nn.Linear(64, 10))


# ---------------------------------------------------------------- Torch's demonstrations
def torch_mnist():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5), nn.Tanh(), nn.MaxPool2d(3, 3, padding=1),
        nn.Conv2d(32, 64, 5), nn.Tanh(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(576, 200), nn.Tanh(),
        nn.Linear(200, 10))


def torch_cifar10():
    return nn.Sequential(
        nn.Conv2d(3, 16, 5), nn.Tanh(), nn.MaxPool2d(2),
        nn.Conv2d(16, 256, 5), nn.Tanh(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(6400, 128), nn.Tanh(),
        nn.Linear(128, 10))


# ---------------------------------------------------------------- Theano's tutorials
def theano_mnist():
    return nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.Tanh(),
        nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.Tanh(), nn.Flatten(),
        nn.Linear(800, 500), nn.Tanh(),
        nn.Linear(500, 10))


def theano_cifar10():
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(3),
        nn.Conv2d(4, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(128, 100), nn.ReLU(),
        nn.Linear(100, 10))


# ---------------------------------------------------------------- younger networks
class ResidualBlock(nn.Module):
    def __init__(self, inputs, filters, stride):
        super().__init__()
        self.residual = nn.Sequential(
            nn.Conv2d(inputs, filters, 3, stride, padding=1, bias=False), nn.BatchNorm2d(filters), nn.ReLU(),
            nn.Conv2d(filters, filters, 3, padding=1, bias=False), nn.BatchNorm2d(filters))
        self.shortcut = nn.Identity() if stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, filters, 1, stride, bias=False), nn.BatchNorm2d(filters))

    def forward(self, x):
        return F.relu(self.residual(x) + self.shortcut(x))


def resnet20_cifar10():
    layers = [nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    for inputs, filters, stride in ((16, 16, 1), (16, 32, 2), (32, 64, 2)):
        layers += [ResidualBlock(inputs, filters, stride),
                   ResidualBlock(filters, filters, 1), ResidualBlock(filters, filters, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class TransformerBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mixing = (nn.LayerNorm(width, eps=1e-6) for _ in range(2))
        self.queries_keys_values, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mixing = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def attention(self, x):
        samples, tokens, width = x.shape
        parts = self.queries_keys_values(x).reshape(samples, tokens, 3, self.heads, width // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)
        if hasattr(F, "scaled_dot_product_attention"):
            attended = F.scaled_dot_product_attention(queries, keys, values)
        else:  # before PyTorch 2.0
            scores = queries @ keys.transpose(-2, -1) / math.sqrt(width // self.heads)
            attended = torch.softmax(scores, -1) @ values
        return self.projection(attended.transpose(1, 2).reshape(samples, tokens, width))

    def forward(self, x):
        x = x + self.attention(self.before_attention(x))
        return x + self.mixing(self.before_mixing(x))


class TransformerCifar10(nn.Module):
    WIDTH, HEADS, DEPTH, PATCHES = 96, 3, 4, 64

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, self.WIDTH, 4, 4)
        self.positions = nn.Parameter(torch.empty(self.PATCHES, self.WIDTH))
        nn.init.trunc_normal_(self.positions, std=0.02)
        self.blocks = nn.Sequential(*(TransformerBlock(self.WIDTH, self.HEADS) for _ in range(self.DEPTH)))
        self.norm, self.dense = nn.LayerNorm(self.WIDTH, eps=1e-6), nn.Linear(self.WIDTH, 10)

    def forward(self, images):
        tokens = self.patches(images).flatten(2).transpose(1, 2) + self.positions
        return self.dense(self.norm(self.blocks(tokens)).mean(1))


def airbench94():
    def norm(channels):
        layer = nn.BatchNorm2d(channels, eps=1e-12, momentum=0.4)
        layer.weight.requires_grad_(False)
        return layer

    whitening = nn.Conv2d(3, 24, 2)
    whitening.weight.requires_grad_(False)
    layers = [whitening, nn.GELU()]
    for inputs, filters in ((24, 64), (64, 256), (256, 256)):
        layers += [nn.Conv2d(inputs, filters, 3, padding=1, bias=False), nn.MaxPool2d(2), norm(filters), nn.GELU(),
                   nn.Conv2d(filters, filters, 3, padding=1, bias=False), norm(filters), nn.GELU()]
    return nn.Sequential(*layers, nn.MaxPool2d(3), nn.Flatten(), nn.Linear(256, 10, bias=False))


class ScaleNorm(nn.Module):
    """LayerNorm without a bias, which `nn.LayerNorm` offers since PyTorch 2.1."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, None, 1e-5)


class LanguageBlock(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mixing = ScaleNorm(width), ScaleNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width, bias=False)
        self.projection = nn.Linear(width, width, bias=False)
        self.mixing = nn.Sequential(nn.Linear(width, 4 * width, bias=False), nn.GELU(),
                                    nn.Linear(4 * width, width, bias=False))
        self.dropout = nn.Dropout(dropout)

    def attention(self, x):
        samples, tokens, width = x.shape
        parts = self.queries_keys_values(x).reshape(samples, tokens, 3, self.heads, width // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)
        if hasattr(F, "scaled_dot_product_attention"):
            attended = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        else:  # before PyTorch 2.0
            scores = queries @ keys.transpose(-2, -1) / math.sqrt(width // self.heads)
            later = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).triu(1)
            attended = torch.softmax(scores.masked_fill(later, -math.inf), -1) @ values
        return self.projection(attended.transpose(1, 2).reshape(samples, tokens, width))

    def forward(self, x):
        x = x + self.dropout(self.attention(self.before_attention(x)))
        return x + self.dropout(self.mixing(self.before_mixing(x)))


class LanguageModel(nn.Module):
    """nanoGPT's network; its output shares the vectors of the characters."""

    def __init__(self, window, width, heads, blocks, dropout):
        super().__init__()
        self.characters = nn.Embedding(CHARACTERS, width)
        self.positions = nn.Parameter(torch.empty(window, width))
        for vectors in (self.characters.weight, self.positions):
            nn.init.normal_(vectors, std=0.02)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.Sequential(*(LanguageBlock(width, heads, dropout) for _ in range(blocks)))
        self.norm = ScaleNorm(width)

    def forward(self, characters):
        x = self.dropout(self.characters(characters) + self.positions)
        return F.linear(self.norm(self.blocks(x)), self.characters.weight)


# ---------------------------------------------------------------- optimisers
def trained(model):
    return [weight for weight in model.parameters() if weight.requires_grad]


def rmsprop(rate):
    return lambda model: torch.optim.RMSprop(trained(model), lr=rate, alpha=0.9, eps=1e-8)


def adadelta(model):
    return torch.optim.Adadelta(model.parameters(), lr=1.0, rho=0.95, eps=1e-8)


def adam(rate):
    return lambda model: torch.optim.Adam(trained(model), lr=rate)


def adamw(decay, betas=(0.9, 0.999)):
    """Only matrices decay."""
    def make(model):
        matrices = [weight for weight in model.parameters() if weight.ndim > 1]
        others = [weight for weight in model.parameters() if weight.ndim == 1]
        groups = [{"params": matrices}, {"params": others, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=1e-3, betas=betas, weight_decay=decay)
    return make


def sgd(rate, momentum=0.0, decay=0.0):
    return lambda model: torch.optim.SGD(model.parameters(), lr=rate, momentum=momentum, weight_decay=decay)


def caffe_sgd(rate, decay):
    """Biases learn twice as fast."""
    def make(model):
        biases = [weight for weight in model.parameters() if weight.ndim == 1]
        others = [weight for weight in model.parameters() if weight.ndim > 1]
        groups = [{"params": others}, {"params": biases, "lr": 2 * rate}]
        return torch.optim.SGD(groups, lr=rate, momentum=0.9, weight_decay=decay)
    return make


def tensorflow_cifar10_sgd(model):
    """Only the two hidden dense layers decay."""
    hidden = [layer.weight for layer in model if isinstance(layer, nn.Linear)][:2]
    others = [weight for weight in model.parameters() if all(weight is not one for one in hidden)]
    return torch.optim.SGD([{"params": hidden, "weight_decay": 0.004}, {"params": others}], lr=0.1)


def airbench94_sgd(model):
    scale = 1024 * (1 + 1 / (1 - 0.85))
    rate, decay = 11.5 / scale, 0.0153 * 1024 / scale
    biases = [layer.bias for layer in model if isinstance(layer, nn.BatchNorm2d)]
    others = [weight for weight in trained(model) if all(weight is not bias for bias in biases)]
    groups = [{"params": others}, {"params": biases, "lr": 64 * rate, "weight_decay": decay / (64 * rate)}]
    return torch.optim.SGD(groups, lr=rate, momentum=0.85, nesterov=True, weight_decay=decay / rate)


# ---------------------------------------------------------------- what follows the weights
class MovingAverage:
    """TensorFlow's moving averages of all weights, after every step."""

    def __init__(self, model):
        self.weights = trained(model)
        self.averages = [weight.detach().clone() for weight in self.weights]

    @torch.no_grad()
    def step(self):
        for average, weight in zip(self.averages, self.weights):
            average.lerp_(weight, 1 - 0.9999)


class Lookahead(MovingAverage):
    """After every fifth step the weights jump to their average."""
    steps = 0

    @torch.no_grad()
    def step(self):
        self.steps += 1
        if self.steps % 5 == 0:
            for average, weight in zip(self.averages, self.weights):
                average.lerp_(weight, 1 - 0.95 ** 5)
                weight.copy_(average)


# ---------------------------------------------------------------- the registry
@dataclass(frozen=True)
class Workload:
    name: str
    batch: int
    # Shape of a sample; of words where there is a vocabulary.
    sample: Tuple[int, ...]
    model: Callable[[], nn.Module]
    optimizer: Callable[[nn.Module], torch.optim.Optimizer]
    # As `native-runner workloads` counts them.
    parameters: int
    loss: Callable = F.cross_entropy
    classes: int = 10
    vocabulary: Optional[int] = None
    # Shape of a sample's labels.
    answers: Tuple[int, ...] = ()
    # Largest norm of all gradients together.
    gradient_limit: Optional[float] = None
    follower: Optional[Callable] = None


def airbench94_loss(logits, labels):
    return F.cross_entropy(logits / 9, labels, label_smoothing=0.2, reduction="sum")


def loss_of_all_characters(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def language_model(name, batch, window, width, heads, blocks, dropout, count):
    return Workload(name, batch, (window,), partial(LanguageModel, window, width, heads, blocks, dropout),
                    adamw(0.1, (0.9, 0.99)), count, loss=loss_of_all_characters, classes=CHARACTERS,
                    vocabulary=CHARACTERS, answers=(window,), gradient_limit=1.0)


SMOOTHED = partial(F.cross_entropy, label_smoothing=0.1)
MNIST, CIFAR10 = (1, 28, 28), (3, 32, 32)

WORKLOADS = (
    Workload("keras-mnist-mlp", 128, (784,), keras_mnist_mlp, rmsprop(0.001), 669_706),
    Workload("keras-mnist-cnn", 128, MNIST, keras_mnist_cnn, adadelta, 1_199_882),
    language_model("gpt-nano", 12, 64, 128, 4, 4, 0.0, 806_016),
    language_model("gpt-small", 64, 256, 384, 6, 6, 0.2, 10_750_848),
    Workload("keras-cifar10-cnn", 32, CIFAR10, keras_cifar10_cnn, rmsprop(0.0001), 1_250_858),
    Workload("keras-mnist-hrnn", 32, (28, 28), KerasMnistHierarchicalRnn, rmsprop(0.001), 199_434),
    Workload("keras-babi-rnn", 32, (557,), KerasBabiRnn, adam(0.001), 45_836, classes=36, vocabulary=36),
    Workload("tensorflow-mnist", 50, MNIST, tensorflow_mnist, adam(0.0001), 3_274_634),
    Workload("tensorflow-cifar10", 128, (3, 24, 24), tensorflow_cifar10, tensorflow_cifar10_sgd, 1_068_298,
             follower=MovingAverage),
    Workload("caffe-mnist", 64, MNIST, caffe_mnist, caffe_sgd(0.01, 0.0005), 431_080),
    Workload("caffe-cifar10", 100, CIFAR10, caffe_cifar10, caffe_sgd(0.001, 0.004), 145_578),
    Workload("torch-mnist", 10, (1, 32, 32), torch_mnist, sgd(0.05), 169_506),
    Workload("torch-cifar10", 1, CIFAR10, torch_cifar10, sgd(0.001), 924_490),
    Workload("theano-mnist", 500, MNIST, theano_mnist, sgd(0.1), 431_080),
    Workload("theano-cifar10", 50, CIFAR10, theano_cifar10, sgd(0.01, momentum=0.9), 14_318),
    Workload("resnet20-cifar10", 128, CIFAR10, resnet20_cifar10, sgd(0.1, momentum=0.9, decay=1e-4), 272_474),
    Workload("transformer-cifar10", 128, CIFAR10, TransformerCifar10, adamw(0.05), 311_146, loss=SMOOTHED),
    Workload("airbench94", 1024, CIFAR10, airbench94, airbench94_sgd, 1_972_792, loss=airbench94_loss,
             follower=Lookahead),
)


def parameters(model):
    """Counted as Gradmark counts: with what stays fixed, without the second bias of PyTorch's LSTM."""
    return sum(weight.numel() for name, weight in model.named_parameters() if "bias_hh" not in name)
