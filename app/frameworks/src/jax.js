// jax-js as a Gradmark backend.
//
// A step is one function under `jit`, with `valueAndGrad` inside, as in jax-js's documentation and its MNIST example.
// The example waits for each step with `blockUntilReady`. We try both that and keeping all steps of a message in
// flight, and use the faster one. Nothing is read back before the last step of a message. Functions own their
// arguments, so values that are used again are passed with `.ref`. jax-js convolutions expect NCHW images, so images
// are NCHW here. Texts have channels last, as its `dotProductAttention` expects.

import { blockUntilReady, init, defaultDevice, jit, lax, nn, numpy as np, tree, valueAndGrad } from "@jax-js/jax";
import { Unsupported, isPixelwise, overhang } from "./program.js";

const ACTIVATIONS = {
  identity: (x) => x,
  // Not `nn.relu`: its slope at 0 is 1, and pixels that see only black are 0.
  relu: (x) => np.where(x.ref.greater(0), x, 0),
  tanh: np.tanh,
  gelu: (x) => nn.gelu(x, { approximate: false }),
};

/** Number of steps in each trial, and the time limit after which no further trials start. */
const TRIAL_STEPS = 3;
const LONG_TRIAL_MILLISECONDS = 2000;
/** Maximum number of steps whose losses fit into one array. */
const TOLD_STEPS = 63;

function conv2d(x, kernel, { stride, padding }) {
  const zeros = padding.zeros === undefined ? padding.toUpperCase() : Array(2).fill([padding.zeros, padding.zeros]);
  return lax.convGeneralDilated(x, kernel, [stride, stride], zeros);
}

function pool(x, { kind, side, stride, padding, activation }, shape) {
  if (padding) throw new Unsupported("pooling with a border");
  const [bottom, right] = overhang(shape, { side, stride }, x.shape.slice(2));
  const hangs = bottom > 0 || right > 0;
  const padded = (values) => (hangs ? np.pad(values, [[0, 0], [0, 0], [0, bottom], [0, right]]) : values);
  // Ones inside the image, and zeros in the padding.
  const real = hangs ? padded(np.ones([1, 1, ...x.shape.slice(2)])) : undefined;
  const windows = (values, reduce) => lax.reduceWindow(values, reduce, [side, side], [stride, stride]);
  let y;
  if (kind === "max") {
    // Padding is never the maximum.
    y = windows(hangs ? np.where(real.greater(0), padded(x), -Infinity) : x, np.max);
  } else {
    y = windows(padded(x), hangs ? np.sum : np.mean);
    if (hangs) y = y.div(windows(real, np.sum));
  }
  return ACTIVATIONS[activation](y);
}

function localResponseNorm(x, { radius, bias, alpha, beta }) {
  const channels = x.shape[1];
  const squares = np.pad(np.square(x.ref), [[0, 0], [radius, radius], [0, 0], [0, 0]]);
  const shifted = (shift) => squares.ref.slice([], [shift, shift + channels]);
  let total = shifted(0);
  for (let shift = 1; shift <= 2 * radius; shift++) total = total.add(shifted(shift));
  squares.dispose();
  return x.div(np.power(total.mul(alpha).add(bias), beta));
}

/** `softmax(q·kᵀ/√d)·v` of each head. The channels of tokens (rows, tokens, channels) are q, k and v. */
function attention(x, { heads, causal }) {
  const [rows, tokens, channels] = x.shape;
  const parts = np.split(x, 3, -1).map((part) => part.reshape([rows, tokens, heads, channels / (3 * heads)]));
  return nn.dotProductAttention(...parts, { isCausal: causal });
}

/** Factor that limits the length of all gradients together. */
function gradientFactor(gradients, limit) {
  const squares = gradients.map((gradient) => np.sum(np.square(gradient.ref)));
  const length = np.sqrt(squares.reduce((total, square) => total.add(square)));
  return np.minimum(np.trueDivide(limit, length), 1);
}

/** Applies the weight decay to a tensor if it is decoupled, and otherwise to its gradient. */
function decayed(weight, gradient, decay, decoupledRate) {
  if (!decay) return [weight, gradient];
  if (!decoupledRate) return [weight, gradient.add(weight.ref.mul(decay))];
  return [weight.mul(decoupledRate.mul(-decay).add(1)), gradient];
}

/** Returns a tensor and its optimizer state after a step. */
function updated(rule, weight, gradient, state, rate) {
  const mean = (share, old, value) => old.mul(share).add(value.mul(1 - share));
  switch (rule.name) {
    case "sgd": {
      if (!rule.momentum) return [weight.sub(gradient.mul(rate)), []];
      const velocity = state[0].mul(rule.momentum).add(gradient.mul(rate));
      return [weight.sub(velocity.ref), [velocity]];
    }
    case "rms_prop": {
      const square = mean(rule.rho, state[0], np.square(gradient.ref));
      return [weight.sub(gradient.mul(rate).div(np.sqrt(square.ref).add(rule.epsilon))), [square]];
    }
    case "adadelta": {
      const square = mean(rule.rho, state[0], np.square(gradient.ref));
      const roots = np.sqrt(state[1].ref.add(rule.epsilon)).div(np.sqrt(square.ref.add(rule.epsilon)));
      const update = gradient.mul(roots);
      return [weight.sub(update.ref.mul(rate)), [square, mean(rule.rho, state[1], np.square(update))]];
    }
    default: {
      const first = mean(rule.beta1, state[0], gradient.ref);
      const second = mean(rule.beta2, state[1], np.square(gradient));
      return [weight.sub(first.ref.mul(rate).div(np.sqrt(second.ref).add(rule.epsilon))), [first, second]];
    }
  }
}

/** Reasons for unsupported layers. Compiling an unrolled LSTM took over 4 GiB, or did not finish within minutes. */
const WHY = { lstm: ", because jax-js has no loop like JAX's scan" };

const AS_IT_IS = { here: (x) => x, there: (x) => x };
const KERNEL = { here: (x) => x.transpose([3, 2, 0, 1]), there: (x) => x.transpose([2, 3, 1, 0]) };

/** Order of the weight rows that read a flattened image, which is NCHW here. */
function rowsOf([height, width, channels]) {
  if (height * width === 1 || channels === 1) return AS_IT_IS;
  const [images, channelsFirst] = [[height, width, channels, -1], [channels, height, width, -1]];
  const rows = height * width * channels;
  return {
    here: (x) => x.reshape(images).transpose([2, 0, 1, 3]).reshape([rows, -1]),
    there: (x) => x.reshape(channelsFirst).transpose([1, 2, 0, 3]).reshape([rows, -1]),
  };
}

/** Conversions of each tensor to the order used by jax-js and back. They run once, and not in every step. */
function orders({ nodes, input, tensors, layout }) {
  const found = tensors.map(() => AS_IT_IS);
  for (const node of nodes) {
    const image = node.reads[0] < 0 ? input : nodes[node.reads[0]].shape;
    if (node.kind === "dense" && layout === "nchw") found[node.tensors[0]] = rowsOf(image);
    if (node.kind === "conv2d" && !isPixelwise(node)) found[node.tensors[0]] = KERNEL;
  }
  return found;
}

class Network {
  constructor(job, settings) {
    for (const { kind } of job.nodes) {
      const isKnown = IMAGE_LAYERS[kind] || PIXEL_LAYERS[kind] || ["dense", "add", "dropout"].includes(kind);
      if (!isKnown) throw new Unsupported(`the layer ${kind}${WHY[kind] ?? ""}`);
    }
    this.layout = job.layout = job.nodes.some(({ kind }) => kind === "embedding") ? "nhwc" : "nchw";
    Object.assign(this, { job, settings, rule: job.rule(), multipliers: job.multipliers(), waits: false });
    this.order = orders(job);
    const step = (keeps) => (...given) => this.step(keeps, ...given);
    // The last step of a message keeps the values that a check may request.
    [this.steps, this.lastStep] = [jit(step(false)), jit(step(true))];
    this.test = jit((weights, inputs, labels) => {
      const logits = this.forward(weights, inputs, []);
      return [this.loss(logits.ref, labels.ref), this.correct(logits, labels)];
    });
    this.begin();
  }

  /** Resets weights and optimizer states. */
  begin() {
    this.forget();
    this.weightsHeld = this.job.initial.map((values, place) =>
      this.order[place].here(np.array(values).reshape(this.job.tensors[place].shape)),
    );
    this.states = this.weightsHeld.map(({ shape }) => Array.from({ length: this.rule.states }, () => np.zeros(shape)));
  }

  forget() {
    tree.dispose([this.weightsHeld ?? [], this.states ?? [], this.last ?? []]);
    this.last = undefined;
  }

  dispose() {
    this.forget();
    for (const compiled of [this.steps, this.lastStep, this.test]) compiled.dispose();
  }

  hold({ rows, inputs, labels, factors, rates }) {
    const { nodes, dropouts, input } = this.job;
    return {
      rows,
      inputs: np.array(inputs).reshape([rows, ...this.laid(input)]),
      labels: np.array(labels, { dtype: np.int32 }),
      factors: factors.map((factor, place) => {
        return np.array(factor).reshape([rows, ...this.laid(nodes[dropouts[place].node].shape)]);
      }),
      rates,
    };
  }

  /** Sides of an image in the layout of the network. */
  laid([height, width, channels]) {
    return this.layout === "nchw" ? [channels, height, width] : [height, width, channels];
  }

  /** Images as (rows, channels, height, width), and back. */
  channelsFirst(x) {
    return this.layout === "nchw" ? x : x.transpose([0, 3, 1, 2]);
  }

  fromChannelsFirst(y) {
    return this.layout === "nchw" ? y : y.transpose([0, 2, 3, 1]);
  }

  /** Images as (rows, pixels, channels), and back. */
  pixels(x) {
    const last = this.layout === "nchw" ? x.transpose([0, 2, 3, 1]) : x;
    return last.reshape([x.shape[0], -1, last.shape[3]]);
  }

  fromPixels(y, [height, width, channels]) {
    const image = y.reshape([-1, height, width, channels]);
    return this.layout === "nchw" ? image.transpose([0, 3, 1, 2]) : image;
  }

  /** Logits (answers, classes). */
  forward(weights, inputs, factors) {
    const [masks, rows] = [[...factors], inputs.shape[0]];
    const values = new Map([[-1, inputs]]);
    this.job.nodes.forEach((node, place) => {
      const given = node.reads.map((read) => values.get(read).ref);
      const own = node.tensors.map((number) => weights[number].ref);
      const y = node.kind === "dropout" ? dropped(given[0], masks.shift()) : this.layer(node, given, own);
      values.set(place, y.reshape([rows, ...this.laid(node.shape)]));
    });
    const logits = this.pixels(values.get(this.job.nodes.length - 1).ref);
    tree.dispose([weights, ...values.values()]);
    return logits.reshape([-1, this.job.classes]);
  }

  layer(node, [x, other], weights) {
    const { kind, settings, shape } = node;
    if (kind === "add") return ACTIVATIONS[settings.activation](x.add(other));
    if (kind === "dense") return this.fromPixels(dense(x, weights, settings), shape);
    if (IMAGE_LAYERS[kind] && !isPixelwise(node)) {
      return this.fromChannelsFirst(IMAGE_LAYERS[kind](node, this.channelsFirst(x), weights));
    }
    return this.fromPixels(PIXEL_LAYERS[kind](node, this.pixels(x), weights), shape);
  }

  /** Sum of the losses of all answers. */
  loss(logits, labels) {
    const { label_smoothing: smooth, logits_scale: scale } = this.job.loss;
    let targets = nn.oneHot(labels, this.job.classes);
    if (smooth) targets = targets.mul(1 - smooth).add(smooth / this.job.classes);
    const scaled = scale === 1 ? logits : logits.mul(scale);
    return np.sum(targets.mul(nn.logSoftmax(scaled))).neg();
  }

  correct(logits, labels) {
    return np.sum(np.argmax(logits, -1).equal(labels).astype(np.int32));
  }

  step(keeps, weights, states, told, inputs, labels, factors, rates, number) {
    const answers = labels.shape[0];
    const { summed } = this.job.loss;
    const objective = (weights, inputs, labels, factors) => {
      const logits = this.forward(weights, inputs, factors);
      const total = this.loss(logits.ref, labels);
      return [summed ? total : total.div(answers), logits];
    };
    const differentiated = valueAndGrad(objective, { hasAux: true });
    const [[value, logits], gradients] = differentiated(tree.ref(weights), inputs, labels.ref, factors);
    const kept = keeps ? [gradients.map((gradient) => gradient.ref), logits.ref] : [];
    const next = this.update(weights, gradients, states, rates);
    const correct = this.correct(logits, labels).astype(np.float32);
    const loss = summed ? value.div(answers) : value;
    return [next.map(([weight]) => weight), next.map(([, state]) => state), noted(told, number, loss, correct), kept];
  }

  /** Tensors and their optimizer states after a step. */
  update(weights, gradients, states, rates) {
    const limit = this.job.largestGradient;
    const factor = limit && gradientFactor(gradients, limit);
    const [scheduledRate, learningRate] = [rates.ref.slice(0), rates.slice(1)];
    const next = weights.map((weight, place) => {
      const { rate, decay } = this.multipliers[place];
      const gradient = limit ? gradients[place].mul(factor.ref) : gradients[place];
      const decoupledRate = this.rule.decoupled && decay ? scheduledRate.ref.mul(rate) : undefined;
      const [old, slope] = decayed(weight, gradient, decay, decoupledRate);
      return updated(this.rule, old, slope, states[place], learningRate.ref.mul(rate));
    });
    tree.dispose([factor ?? [], scheduledRate, learningRate]);
    return next;
  }

  async train(batches) {
    const parts = [];
    for (let first = 0; first < batches.length; first += TOLD_STEPS) {
      const isLast = first + TOLD_STEPS >= batches.length;
      parts.push(await this.trainOn(batches.slice(first, first + TOLD_STEPS), isLast));
    }
    const told = await Promise.all(parts.map((part) => part.data()));
    const losses = told.flatMap((part) => Array.from(part.subarray(0, TOLD_STEPS))).slice(0, batches.length);
    const correct = sum(told.map((part) => part[TOLD_STEPS]));
    // A loss is available before the update computed from it.
    await blockUntilReady(this.weightsHeld);
    return { losses, correct };
  }

  /** Trains on at most `TOLD_STEPS` batches, and returns the array of their results, still on the device. */
  async trainOn(batches, isLast) {
    let told = np.zeros([TOLD_STEPS + 1]);
    for (const [number, { inputs, labels, factors, rates }] of batches.entries()) {
      const compiled = isLast && number === batches.length - 1 ? this.lastStep : this.steps;
      const [weights, states, all, kept] =
        compiled(this.weightsHeld, this.states, told, inputs, labels, factors, np.array(rates), np.array(number));
      [this.weightsHeld, this.states, told] = [weights, states, all];
      if (kept.length) {
        tree.dispose(this.last ?? []);
        this.last = kept;
      }
      if (this.waits) await blockUntilReady(told);
    }
    return told;
  }

  /** Times steps with a wait after each and with all in flight, and uses the faster way from then on. */
  async choose(batch) {
    const best = { true: Infinity, false: Infinity };
    const began = performance.now();
    for (const waits of [false, true, false, true]) {
      if (best.true < Infinity && performance.now() - began > LONG_TRIAL_MILLISECONDS) break;
      this.waits = waits;
      const held = Array.from({ length: TRIAL_STEPS }, () => this.hold(batch));
      const start = performance.now();
      await this.train(held);
      best[waits] = Math.min(best[waits], performance.now() - start);
    }
    this.waits = best.true < best.false;
    this.settings = [...this.settings, `steps: ${this.waits ? "each waited for" : "several in flight"}`];
  }

  async evaluate(batches) {
    const results = [];
    for (const { inputs, labels, factors } of batches) {
      tree.dispose(factors);
      const result = this.test(tree.ref(this.weightsHeld), inputs, labels);
      // All batches in flight may need more memory than wasm has.
      await blockUntilReady(result[0]);
      results.push(result);
    }
    const losses = await read(results.map(([loss]) => loss));
    const correct = await read(results.map((result) => result[1]));
    return { loss: sum(losses), correct: sum(correct) };
  }

  asInJob(arrays) {
    return Promise.all(arrays.map((array, place) => this.order[place].there(array.ref).data()));
  }

  weights() {
    return this.asInJob(this.weightsHeld);
  }

  gradients() {
    return this.asInJob(this.last[0]);
  }

  logits() {
    return this.last[1].ref.data();
  }
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

/** Adds the results of step `number` to the array: the losses of all steps in order, then the total number of correct
 * predictions. Reading one array costs less than stacking the numbers of all steps. */
function noted(told, number, loss, correct) {
  const places = np.arange(TOLD_STEPS + 1);
  const here = places.ref.equal(number);
  return np.where(here, loss, told.add(np.where(places.equal(TOLD_STEPS), correct, 0)));
}

/** Reads back numbers from the device in one transfer. */
const read = (scalars) => np.stack(scalars).data();

function dropped(x, factor) {
  return factor ? x.mul(factor) : x;
}

/** Adds the bias of a layer, if it has one, and applies its activation. */
const finished = (y, bias, { activation }) => ACTIVATIONS[activation](bias ? y.add(bias) : y);

function dense(x, [kernel, bias], settings) {
  return finished(np.matmul(x.reshape([x.shape[0], -1]), kernel), bias, settings);
}

/** Layers of images (rows, channels, height, width). Arguments: node, image, and weights. */
const IMAGE_LAYERS = {
  conv2d: ({ settings }, x, [kernel, bias]) => finished(conv2d(x, kernel, settings), bias?.reshape([1, -1, 1, 1]), settings),
  pool: ({ settings, shape }, x) => pool(x, settings, shape),
  local_response_norm: ({ settings }, x) => localResponseNorm(x, settings),
};

/** Layers of pixels (rows, pixels, channels). Arguments: node, pixels, and weights. */
const PIXEL_LAYERS = {
  conv2d: ({ settings }, x, [kernel, bias]) => finished(np.matmul(x, kernel.reshape(kernel.shape.slice(2))), bias, settings),
  embedding({ settings: { first, count } }, x, [vectors]) {
    const words = x.reshape([x.shape[0], -1]).slice([], [first, first + count]);
    // Not `np.take`: `jit` refuses the scatter of its gradient.
    return np.matmul(nn.oneHot(words.astype(np.int32), vectors.shape[0]), vectors);
  },
  position_embedding: (_, x, [vectors]) => x.add(vectors),
  layer_norm({ settings: { epsilon } }, x, [scale, bias]) {
    const y = nn.standardize(x, -1, { epsilon }).mul(scale);
    return bias ? y.add(bias) : y;
  },
  attention: ({ settings }, x) => attention(x, settings),
  word_scores: (_, x, [vectors]) => np.matmul(x, vectors.transpose()),
};

/** Opens jax-js on the device of this name. */
export async function open(name, { named, faults }) {
  if (!(await init(name)).includes(name)) throw new Error(`jax-js cannot open its device ${name} here`);
  defaultDevice(name);
  const { device, kind } = await named();
  const text = `jax-js ${JAX_JS_VERSION}, ${name}`;
  const introduction = { framework: "jax-js", version: text, device, device_kind: kind };
  const settings = [`framework: jax-js ${JAX_JS_VERSION}`, `device: ${name}`];
  return { introduction, build: (job) => new Network(job, settings), faults: faults?.() };
}
