"""Runs of one workload, and the ensemble of them that tells how exactly arithmetic can answer.

Each run of an ensemble is disturbed as float32's rounding disturbs, in its start weights, its inputs and the order of
its sums. What they spread by is what engines that are all correct may differ by.
"""
import math, re
from typing import NamedTuple

import jax, jax.numpy as jnp, keras, numpy as np

from workloads import KINDS, VIEWS, Net, decayed, initial, rate, scheduled, uniform

# A tensor's first gradient, first update or norm at the end may spread by this much, relative, or the trace is refused.
LIMITS = dict(grad_norm=1e-5, first_update_norm=1e-3, final_norm=1e-3)
SEEDS = 100  # how many seeds are tried before the shape of a trace is given up
WEIGHTS, INPUTS, SAMPLES, ORDERS = range(4)  # what a run's random numbers are for


class Member(NamedTuple):
    """One run: its float type, by how much weights and inputs are disturbed, and which random numbers it uses."""
    dtype: str
    scale: float
    number: int
    reordered: bool

    def __str__(self):
        return f"run {self.number} ({self.dtype})"

    def random(self, n, *place):
        """n numbers in [0, 1) of this run's own, for one purpose."""
        return np.random.default_rng((self.number, *place)).random(n)

    def disturbed(self, x, *place):
        """x times 1 + scale * (random in [-1, 1)), in double."""
        x = np.asarray(x)
        if not self.scale or x.dtype.kind in "iu":
            return x
        return x.astype(np.float64) * (1 + self.scale * (2 * self.random(x.size, *place).reshape(x.shape) - 1))

    def order(self, n, *place):
        return np.argsort(self.random(n, *place)) if self.reordered else np.arange(n)


EXACT = Member("float64", 0.0, 0, False)
PLAIN = Member("float32", 0.0, 0, False)
# 1e-6 stands for the rounding that a long float32 sum gathers, 2^-23 for one spacing of the stored values (README, 6).
MEMBERS = ([Member("float64", 1e-6, k, False) for k in range(1, 9)]
           + [Member("float32", 2.0 ** -23, k, True) for k in range(9, 17)])


class Refused(Exception):
    """A trace hangs on something that float32 cannot know."""


class Trainer:
    """A workload in one float type; compiled once, run from many starts."""

    def __init__(self, spec, data, dtype):
        self.spec, self.dtype, self.steps = spec, dtype, spec["steps"]
        (self.train_x, self.train_y), (self.test_x, self.test_y) = data.get(spec["set"], VIEWS.get(spec["view"], spec["view"]))
        with self.precision():
            self.net = net = Net(spec["net"], dtype, self.train_x(np.arange(2)))
        o, b = spec["opt"], spec["batch"]
        self.slots, update = KINDS[o["kind"]](o)
        on = o.get("decay_on", [])
        decays = lambda t: len(t["shape"]) > 1 if on == "matrices" else on == "all" or t["name"] in on
        decay = [o.get("weight_decay", 0.0) * decays(t) for t in net.tensors]
        mult = [o.get("bias_lr_mult", 1.0) if t["name"].endswith("bias") else 1.0 for t in net.tensors]
        self.drops = [(drop, (b, drop.features)) for drop in net.drops] if spec.get("dropout") else []

        def step(w, state, x, y, masks, orders, lr, decay_lr, linear=False):
            net.linear = linear
            (loss, logits), g = jax.value_and_grad(net.loss, has_aux=True)(w, x, y, masks, orders)
            g = [gi * b for gi in g] if spec.get("summed") else g  # of the sum over the batch, of which the loss is the mean
            h, limit = g, spec["opt"].get("largest_gradient")
            if limit:
                factor = limit / jnp.maximum(jnp.sqrt(sum(jnp.sum(gi * gi) for gi in g)), limit)
                h = [gi * factor for gi in g]
            penalized = [decayed(o, v, gi, d, decay_lr) if d else (v, gi) for v, gi, d in zip(w, h, decay)]
            out = [update(*vg, s, lr * m) for vg, s, m in zip(penalized, state, mult)]
            return loss, logits, g, [v for v, _ in out], [s for _, s in out]

        def forward(w, x, orders):
            net.linear = False  # a test comes after the linear start
            return net.forward(w, x, (), orders)

        self.step, self.step_unjitted = jax.jit(step, static_argnames="linear"), step
        self.forward = jax.jit(forward)
        self.checked, self.starts = False, {}

    def precision(self):
        """Keras's one-hot would lift a float32 loss to float64 wherever the latter is there."""
        keras.config.set_floatx(self.dtype)
        return jax.enable_x64(self.dtype == "float64")

    def cast(self, x):
        return jnp.asarray(x) if np.asarray(x).dtype.kind in "iu" else jnp.asarray(x, self.dtype)

    def check_floats(self, args):
        """No other float type anywhere in the program (Keras casts silently in places)."""
        if not self.checked:
            floats = set(re.findall(r"\bb?f\d+(?=\[)", str(jax.make_jaxpr(self.step_unjitted)(*args))))
            assert floats == {"f" + self.dtype[-2:]}, floats
            self.checked = True

    def start(self, seed):
        """The start values of all tensors; kept, since every run of an ensemble asks for them."""
        if seed not in self.starts:
            self.starts = {seed: [initial(t, seed) for t in self.net.tensors]}
        return self.starts[seed]

    def masks(self, seed, t):
        """Scaled keep masks: element i (row-major in [batch, features]) of place d uses stream 1000 + d."""
        return [((uniform(int(np.prod(s)), 1000 + d.number, t, seed) >= d.rate) / (1 - d.rate)).reshape(s) for d, s in self.drops]

    def run(self, seed, member, steps=None):
        """Trains, for `steps` where only the first of them are wanted."""
        with self.precision():
            return self.run_in_precision(seed, member, steps)

    def run_in_precision(self, seed, member, steps):
        net, b = self.net, self.spec["batch"]
        w = [self.cast(member.disturbed(v, seed, WEIGHTS, i)) for i, v in enumerate(self.start(seed))]
        state = [tuple(jnp.zeros_like(v) for _ in range(self.slots)) for v in w]
        orders = [tuple(jnp.asarray(member.order(size, seed, ORDERS, k, way)) for way, size in enumerate((n, m)))
                  for k, (_, n, m) in enumerate(net.summing)]
        samples = member.order(b, seed, SAMPLES)
        place = np.argsort(samples)
        r = dict(losses=[], clip=0.0, start=[np.asarray(v) for v in w], norms=[])
        for t in range(steps or self.steps):
            x, y = self.train_x(np.arange(t * b, t * b + b)), self.train_y[t * b:t * b + b]
            if t == 0:
                r["first_labels"], r["first_batch_sum"] = y.ravel()[:8].tolist(), float(x.astype(np.float64).sum())
            x, masks = member.disturbed(x, seed, INPUTS, t)[samples], [m[samples] for m in self.masks(seed, t)]
            args = (w, state, self.cast(x), jnp.asarray(y[samples]), [self.cast(m) for m in masks], orders,
                    *(jnp.asarray(of(self.spec["opt"], t, self.steps), self.dtype) for of in (rate, scheduled)))
            self.check_floats(args)
            loss, logits, g, w, state = self.step(*args, linear=t < self.spec.get("linear_until", 0) * self.steps)
            assert loss.dtype == self.dtype and all(v.dtype == self.dtype for v in w)
            r["losses"].append(float(loss))
            r["norms"].append(norms(w))
            z = np.asarray(logits, np.float64)[place].reshape(y.size, -1)
            r["clip"] = max(r["clip"], clip_error(z, y.ravel()))
            if t == 0:
                r["logits"], r["grads"] = z[:4], [np.asarray(v) for v in g]
                r["moves"] = [np.asarray(v, np.float64) - u for v, u in zip(w, r["start"])]
        return dict(r, final=[np.asarray(v) for v in w], orders=orders)

    def test(self, r):
        """The test accuracy of a run, added to it; and its share of the first 100 samples."""
        first = range(0, self.spec.get("test", 1000), 100)
        with self.precision():
            w = [self.cast(v) for v in r["final"]]
            inputs = (self.cast(self.test_x(np.arange(i, i + 100))) for i in first)
            guesses = [np.argmax(np.asarray(self.forward(w, x, r["orders"])), -1) for x in inputs]
        hit = np.concatenate([guess == self.test_y[i:i + 100] for i, guess in zip(first, guesses)])
        r["accuracy"], r["accuracy100"] = float(hit.mean()), float(hit[:100].mean())


def clip_error(z, y):
    """How much the loss changes where Keras 2.0.8 clips probabilities."""
    p = np.exp(z - z.max(1, keepdims=True))
    p = (p / p.sum(1, keepdims=True))[np.arange(len(y)), y]
    return abs(np.mean(np.log(np.clip(p, 1e-7, 1 - 1e-7)) - np.log(p)))


def norms(ts):
    return [float(np.linalg.norm(np.asarray(t, np.float64).ravel())) for t in ts]


def spread(runs, of):
    """Largest minus smallest of what the runs give, over what the first of them, the exact one, gives."""
    values = np.array([of(r) for r in runs])
    return (values.max(0) - values.min(0)) / np.maximum(np.abs(values[0]), 1e-30)


def first_step(runs):
    return dict(grad_norm=spread(runs, lambda r: norms(r["grads"])), first_update_norm=spread(runs, lambda r: norms(r["moves"])))


def final_step(runs):
    return dict(final_norm=spread(runs, lambda r: r["norms"][-1]))


def refuse(spreads, tensors, after):
    for what, values in spreads.items():
        worst = int(np.argmax(values))
        if not values[worst] <= LIMITS[what]:  # so that what is no number is refused, too
            raise Refused(f"{what} of {tensors[worst]['name']} spreads by {values[worst]:.1e} with {after}")


def steps_that_hold(runs):
    """After how many leading steps every tensor's norm still spreads by no more than a trace's end may."""
    held = [spread(runs, lambda r: r["norms"][t]).max() <= LIMITS["final_norm"] for t in range(len(runs[0]["norms"]))]
    return held.index(False) if False in held else len(held)


def ensemble(trainers, seed, tensors):
    """The exact run, the plain float32 run and the disturbed ones; or Refused, as soon as it is known.

    The first step alone is tried first, because it is cheap.
    """
    exact = trainers["float64"].run(seed, EXACT, 1)
    runs = [exact]
    for member in [PLAIN, *MEMBERS]:
        runs.append(trainers[member.dtype].run(seed, member, 1))
        refuse(first_step(runs), tensors, member)
    runs = [trainers["float64"].run(seed, EXACT)]
    for member in [PLAIN, *MEMBERS]:
        runs.append(trainers[member.dtype].run(seed, member))
        refuse(final_step(runs), tensors, f"{member}; {steps_that_hold(runs)} of {len(runs[0]['norms'])} steps hold")
    exact, plain, *disturbed = runs
    furthest = [max((r for r, m in zip(disturbed, MEMBERS) if m.dtype == dtype), key=lambda r: spread([exact, r], lambda r: r["norms"][-1]).max())
                for dtype in trainers]
    # A test costs more than the training, so that of the disturbed runs only those take it that went furthest.
    for dtype, run in zip(("float64", "float32", *trainers), (exact, plain, *furthest)):
        trainers[dtype].test(run)
    return exact, plain, disturbed


def answerable(name, spec, data, seed):
    """Trainers, the first seed from `seed` on whose ensemble agrees, and its runs."""
    trainers = {dtype: Trainer(spec, data, dtype) for dtype in ("float64", "float32")}
    tensors = trainers["float64"].net.tensors
    for tried in range(seed, seed + SEEDS):
        try:
            return trainers["float64"], tried, ensemble(trainers, tried, tensors)
        except Refused as why:
            print(f"{name}: seed {tried} is refused: {why}", flush=True)
    raise SystemExit(f"{name}: none of the {SEEDS} seeds from {seed} on can be answered; make fewer steps or a smaller batch")


def evidence(exact, runs):
    """What a trace file tells of its ensemble."""
    everything = [exact, *runs]
    sigs = lambda v: [float(f"{x:.2g}") for x in v]
    return dict(runs=len(MEMBERS), float64=sum(m.dtype == "float64" for m in MEMBERS), float32=sum(m.dtype == "float32" for m in MEMBERS),
                disturbance=dict(float64=1e-6, float32=2.0 ** -23), limit=LIMITS,
                **{f"{what}_spread": sigs(v) for what, v in {**first_step(everything), **final_step(everything)}.items()})
