// TensorFlow.js as a Gradmark backend, on any TensorFlow.js backend.
//
// Layers use TensorFlow.js operations, and gradients come from `tf.variableGrads`. Only the optimizers are our own,
// because TensorFlow.js has epsilon inside the square root. A step runs inside `tf.tidy`, as the TensorFlow.js guide to
// memory recommends, and nothing is read back before the last step of a message. Images are NHWC.

import * as tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-core/dist/register_all_gradients.js";
import { Unsupported, isPixelwise, overhang } from "./program.js";

const ACTIVATIONS = {
  identity: (x) => x,
  relu: tf.relu,
  tanh: tf.tanh,
  gelu: (x) => tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1)),
};

/** TensorFlow.js kernels that some of its backends lack, by the layers whose gradients need them. */
const NEEDED = { conv2d: "Conv2DBackpropFilter", embedding: "UnsortedSegmentSum" };

/** Added to the scores of later tokens, so that softmax makes them zero. */
const HIDDEN = -1e9;

const hardSigmoid = (x) => tf.clipByValue(tf.add(tf.mul(x, 0.2), 0.5), 0, 1);

function pool(x, { kind, side, stride, padding, activation }, shape) {
  if (padding) throw new Unsupported("pooling with a border");
  const [bottom, right] = overhang(shape, { side, stride }, x.shape.slice(1, 3));
  const around = [[0, 0], [0, bottom], [0, right], [0, 0]];
  const padded = (values, filling) => (bottom || right ? tf.pad(values, around, filling) : values);
  if (kind === "max") return ACTIVATIONS[activation](tf.maxPool(padded(x, -Infinity), side, stride, "valid"));
  let y = tf.avgPool(padded(x, 0), side, stride, "valid");
  // Average over the real pixels, excluding padding.
  if (bottom || right) y = tf.div(y, tf.avgPool(padded(tf.ones([1, ...x.shape.slice(1)]), 0), side, stride, "valid"));
  return ACTIVATIONS[activation](y);
}

/** Final state of an LSTM over sequences (rows, steps, values). */
function lstm(x, kernel, recurrent, bias, units) {
  const [rows, steps, values] = x.shape;
  const read = tf.reshape(tf.add(tf.matMul(tf.reshape(x, [rows * steps, values]), kernel), bias), [rows, steps, 4 * units]);
  let [state, cell] = [tf.zeros([rows, units]), tf.zeros([rows, units])];
  for (const step of tf.unstack(read, 1)) {
    const [input, forget, candidate, output] = tf.split(tf.add(step, tf.matMul(state, recurrent)), 4, 1);
    cell = tf.add(tf.mul(hardSigmoid(forget), cell), tf.mul(hardSigmoid(input), tf.tanh(candidate)));
    state = tf.mul(hardSigmoid(output), tf.tanh(cell));
  }
  return state;
}

/** `softmax(q·kᵀ/√d)·v` of each head. The channels of tokens (rows, tokens, channels) are q, k and v. */
function attention(x, heads, later) {
  const [rows, tokens, channels] = x.shape;
  const size = channels / (3 * heads);
  const [queries, keys, values] = tf.unstack(tf.transpose(tf.reshape(x, [rows, tokens, 3, heads, size]), [2, 0, 3, 1, 4]));
  const scores = tf.mul(tf.matMul(queries, keys, false, true), 1 / Math.sqrt(size));
  const shares = tf.softmax(later ? tf.add(scores, later) : scores);
  return tf.transpose(tf.matMul(shares, values), [0, 2, 1, 3]);
}

/** Numbers (tokens, tokens) that hide later tokens from the scores of causal attention. */
function laterTokens(tokens) {
  const hidden = Float32Array.from({ length: tokens * tokens }, (_, at) => (at % tokens > at / tokens ? HIDDEN : 0));
  return tf.keep(tf.tensor(hidden, [tokens, tokens]));
}

function layerNorm(x, epsilon, scale, bias) {
  const { mean, variance } = tf.moments(x, -1, true);
  const y = tf.mul(tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, epsilon))), scale);
  return bias ? tf.add(y, bias) : y;
}

/** Factor that limits the length of all gradients together. */
function gradientFactor(gradients, limit) {
  // Not `addN`: on WebGPU it binds a buffer for each.
  const squares = tf.stack(gradients.map((gradient) => tf.sum(tf.square(gradient))));
  return tf.minimum(tf.div(limit, tf.sqrt(tf.sum(squares))), 1);
}

/** Applies the weight decay to a tensor if it is decoupled, and otherwise to its gradient. */
function decayed(weight, gradient, decay, decoupledRate) {
  if (!decay) return [weight, gradient];
  if (decoupledRate === undefined) return [weight, tf.add(gradient, tf.mul(weight, decay))];
  return [tf.mul(weight, 1 - decoupledRate * decay), gradient];
}

/** Returns a tensor and its optimizer state after a step. */
function updated(rule, weight, gradient, state, rate) {
  const mean = (share, old, value) => tf.add(tf.mul(old, share), tf.mul(value, 1 - share));
  switch (rule.name) {
    case "sgd": {
      if (!rule.momentum) return [tf.sub(weight, tf.mul(gradient, rate))];
      const velocity = tf.add(tf.mul(state[0], rule.momentum), tf.mul(gradient, rate));
      return [tf.sub(weight, velocity), velocity];
    }
    case "rms_prop": {
      const square = mean(rule.rho, state[0], tf.square(gradient));
      const update = tf.div(tf.mul(gradient, rate), tf.add(tf.sqrt(square), rule.epsilon));
      return [tf.sub(weight, update), square];
    }
    case "adadelta": {
      const square = mean(rule.rho, state[0], tf.square(gradient));
      const roots = tf.div(tf.sqrt(tf.add(state[1], rule.epsilon)), tf.sqrt(tf.add(square, rule.epsilon)));
      const update = tf.mul(gradient, roots);
      return [tf.sub(weight, tf.mul(update, rate)), square, mean(rule.rho, state[1], tf.square(update))];
    }
    default: {
      const first = mean(rule.beta1, state[0], gradient);
      const second = mean(rule.beta2, state[1], tf.square(gradient));
      const update = tf.div(tf.mul(first, rate), tf.add(tf.sqrt(second), rule.epsilon));
      return [tf.sub(weight, update), first, second];
    }
  }
}

class Network {
  constructor(job) {
    for (const node of job.nodes) {
      const { kind } = node;
      if (!LAYERS[kind] && kind !== "dropout") throw new Unsupported(`the layer ${kind}`);
      if (NEEDED[kind] && !isPixelwise(node) && !tf.getKernel(NEEDED[kind], tf.getBackend())) {
        throw new Unsupported(`its ${tf.getBackend()} back end has no kernel ${NEEDED[kind]} for gradients of ${kind}`);
      }
    }
    this.job = job;
    for (const node of job.nodes) {
      if (node.settings.causal) node.later = laterTokens(node.shape[0] * node.shape[1]);
    }
    this.layout = "nhwc";
    this.settings = [`framework: TensorFlow.js ${tf.version_core}`, `back end: ${tf.getBackend()}`];
    [this.rule, this.multipliers] = [job.rule(), job.multipliers()];
    this.variables = job.initial.map((values, place) => tf.variable(tf.tensor(values, job.tensors[place].shape)));
    this.states = job.initial.map((_, place) =>
      Array.from({ length: this.rule.states }, () => tf.variable(tf.zeros(job.tensors[place].shape), false)),
    );
    this.begin();
  }

  /** Resets weights and optimizer states. */
  begin() {
    this.forgetLast();
    tf.tidy(() => {
      this.variables.forEach((variable, place) => {
        variable.assign(tf.tensor(this.job.initial[place], variable.shape));
        for (const state of this.states[place]) state.assign(tf.zerosLike(state));
      });
    });
  }

  forgetLast() {
    tf.dispose(this.last);
    this.last = undefined;
  }

  dispose() {
    this.forgetLast();
    tf.dispose([this.variables, this.states, this.job.nodes.map(({ later }) => later)]);
  }

  hold({ rows, inputs, labels, factors, rates }) {
    const { nodes, dropouts, input } = this.job;
    return {
      rows,
      rates,
      inputs: tf.tensor(inputs, [rows, ...input]),
      labels: tf.tensor1d(labels, "int32"),
      factors: factors.map((factor, place) => {
        // A dropout layer generates its own mask.
        return tf.tensor(factor, [rows, ...nodes[dropouts[place].node].shape]);
      }),
    };
  }

  /** Logits (answers, classes). */
  forward(inputs, factors) {
    const [left, rows] = [[...factors], inputs.shape[0]];
    const values = { "-1": inputs };
    this.job.nodes.forEach((node, place) => {
      const given = node.reads.map((read) => values[read]);
      const weights = node.tensors.map((number) => this.variables[number]);
      const y = node.kind === "dropout" ? dropped(given[0], left.shift()) : LAYERS[node.kind](node, given, weights);
      values[place] = tf.reshape(y, [rows, ...node.shape]);
    });
    return tf.reshape(values[this.job.nodes.length - 1], [-1, this.job.classes]);
  }

  /** Sum of the losses of all answers. */
  loss(logits, labels) {
    const { label_smoothing: smooth, logits_scale: scale } = this.job.loss;
    let targets = tf.oneHot(labels, this.job.classes);
    if (smooth) targets = tf.add(tf.mul(targets, 1 - smooth), smooth / this.job.classes);
    return tf.neg(tf.sum(tf.mul(targets, tf.logSoftmax(scale === 1 ? logits : tf.mul(logits, scale)))));
  }

  correct(logits, labels) {
    return tf.sum(tf.cast(tf.equal(tf.argMax(logits, 1), labels), "int32"));
  }

  step(batch, keeps) {
    return tf.tidy(() => {
      let logits;
      const { summed } = this.job.loss;
      const objective = () => {
        logits = tf.keep(this.forward(batch.inputs, batch.factors));
        const total = this.loss(logits, batch.labels);
        return summed ? total : tf.div(total, batch.labels.size);
      };
      const { value, grads } = tf.variableGrads(objective, this.variables);
      const gradients = this.variables.map((variable) => grads[variable.name]);
      const limit = this.job.largestGradient;
      const factor = limit && gradientFactor(gradients, limit);
      this.variables.forEach((variable, place) => {
        const { rate, decay } = this.multipliers[place];
        const gradient = limit ? tf.mul(gradients[place], factor) : gradients[place];
        const state = this.states[place];
        const [scheduledRate, learningRate] = batch.rates.map((each) => each * rate);
        const [old, slope] = decayed(variable, gradient, decay, this.rule.decoupled ? scheduledRate : undefined);
        const [weight, ...next] = updated(this.rule, old, slope, state, learningRate);
        variable.assign(weight);
        next.forEach((each, index) => state[index].assign(each));
      });
      const correct = this.correct(logits, batch.labels);
      if (keeps) {
        this.forgetLast();
        this.last = { gradients: gradients.map((gradient) => tf.keep(gradient)), logits };
      } else {
        logits.dispose();
      }
      return { loss: summed ? tf.div(value, batch.labels.size) : value, correct };
    });
  }

  async train(batches) {
    const results = batches.map((batch, number) => this.step(batch, number === batches.length - 1));
    const losses = await read(results.map(({ loss }) => loss));
    const correct = await read(results.map((result) => result.correct));
    tf.dispose([results, batches]);
    return { losses, correct: sum(correct) };
  }

  async evaluate(batches) {
    const results = batches.map(({ inputs, labels }) =>
      tf.tidy(() => {
        const logits = this.forward(inputs, []);
        return { loss: this.loss(logits, labels), correct: this.correct(logits, labels) };
      }),
    );
    const losses = await read(results.map(({ loss }) => loss));
    const correct = await read(results.map((result) => result.correct));
    tf.dispose([results, batches]);
    return { loss: sum(losses), correct: sum(correct) };
  }

  weights() {
    return Promise.all(this.variables.map((variable) => variable.data()));
  }

  gradients() {
    return Promise.all(this.last.gradients.map((gradient) => gradient.data()));
  }

  logits() {
    return this.last.logits.data();
  }
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
const dropped = (x, factor) => (factor ? tf.mul(x, factor) : x);

/** Reads back numbers from the device in one transfer. */
async function read(scalars) {
  const together = tf.tidy(() => tf.stack(scalars));
  const values = await together.data();
  together.dispose();
  return values;
}

const flat = (x) => tf.reshape(x, [x.shape[0], -1]);

/** Product of each pixel's channels with a matrix. */
function pixelwise(x, matrix, transposed = false) {
  return tf.matMul(tf.reshape(x, [-1, x.shape.at(-1)]), matrix, false, transposed);
}

const tokens = (x) => tf.reshape(x, [x.shape[0], -1, x.shape[3]]);

/** Forward functions of layers. Arguments: node, input values, and weights. */
const LAYERS = {
  conv2d(node, [x], [kernel, bias]) {
    const { stride, padding, activation } = node.settings;
    const y = isPixelwise(node)
      ? pixelwise(x, tf.reshape(kernel, kernel.shape.slice(2)))
      : tf.conv2d(x, kernel, stride, padding?.zeros ?? padding);
    return ACTIVATIONS[activation](bias ? tf.add(y, bias) : y);
  },
  dense({ settings }, [x], [kernel, bias]) {
    const y = tf.matMul(flat(x), kernel);
    return ACTIVATIONS[settings.activation](bias ? tf.add(y, bias) : y);
  },
  lstm({ settings }, [x], weights) {
    const [rows, height, width, channels] = x.shape;
    const sequences = tf.reshape(x, [rows * height, width, channels]);
    return lstm(sequences, ...weights, settings.units);
  },
  embedding({ settings: { first, count } }, [x], [vectors]) {
    const words = tf.slice(flat(x), [0, first], [-1, count]);
    return tf.gather(vectors, tf.cast(words, "int32"));
  },
  position_embedding: (_, [x], [vectors]) => tf.add(tokens(x), vectors),
  layer_norm: ({ settings: { epsilon } }, [x], [scale, bias]) => layerNorm(x, epsilon, scale, bias),
  attention: ({ settings: { heads }, later }, [x]) => attention(tokens(x), heads, later),
  word_scores: (_, [x], [vectors]) => pixelwise(x, vectors, true),
  add: ({ settings }, [x, other]) => ACTIVATIONS[settings.activation](tf.add(x, other)),
  pool: ({ settings, shape }, [x]) => pool(x, settings, shape),
  local_response_norm: ({ settings: { radius, bias, alpha, beta } }, [x]) =>
    tf.localResponseNormalization(x, radius, bias, alpha, beta),
};

/** Opens TensorFlow.js on its backend of this name, which the bundle has registered. */
export async function open(name, { named, faults }) {
  if (!(await tf.setBackend(name))) throw new Error(`TensorFlow.js cannot open its back end ${name} here`);
  await tf.ready();
  const { device, kind } = await named(tf.backend());
  const version = `TensorFlow.js ${tf.version_core}, ${name}`;
  const introduction = { framework: "TensorFlow.js", version, device, device_kind: kind };
  return { introduction, build: (job) => new Network(job), faults: faults?.(tf.backend()) };
}
