// Code shared by the programs: handles the messages of docs/EXTERNAL.md with a framework, and prepares batches.
//
// A framework is `{ introduction, build(job), faults }`. `build` returns a network, which has
//   settings            texts for the record
//   layout              layout of images: nhwc or nchw
//   train(batches)      one step per batch; `{ losses, correct }`, with the losses before the updates
//   evaluate(batches)   `{ loss, correct }`, the sum of the answers' losses
//   weights(), gradients(), logits()   Float32Arrays, in the order and layout of the job's tensors; the latter two are
//                       from the last training step
//   dispose()
// and may have
//   choose(batch)       selects the fastest way to train after compilation; the weights are reset afterwards
// and `faults`, if present, collects what the device reports between responses.

const PROTOCOL = 1;

/** Error for a layer, optimizer or loss that the program does not support. */
export class Unsupported extends Error {}

/** Sides of an image as [height, width, channels]. */
export const sides = (shape) => [shape.height, shape.width, shape.channels];

const size = (sides) => sides.reduce((product, side) => product * side, 1);

/** Converts images from NHWC to NCHW. */
function channelsFirst(values, rows, [height, width, channels]) {
  const found = new Float32Array(values.length);
  const pixels = height * width;
  for (let row = 0; row < rows; row++) {
    for (let pixel = 0; pixel < pixels; pixel++) {
      for (let channel = 0; channel < channels; channel++) {
        found[(row * channels + channel) * pixels + pixel] = values[(row * pixels + pixel) * channels + channel];
      }
    }
  }
  return found;
}

/** Network with everything needed to train it, as in the message `build`, and initial values of its tensors. */
export class Job {
  constructor(header, bytes) {
    Object.assign(this, {
      model: header.model,
      tensors: header.tensors,
      loss: header.loss,
      classes: header.classes,
      positions: header.positions,
      batchSizes: header.batch_sizes,
      testBatchSizes: header.test_batch_sizes,
      dropouts: header.dropouts,
      optimizer: header.optimizer,
      largestGradient: header.optimizer.largest_gradient,
      layout: "nhwc",
    });
    for (const tensor of this.tensors) {
      if (tensor.kind !== "trained") throw new Unsupported(`${tensor.name} is not trained by the optimiser`);
    }
    this.input = sides(this.model.input);
    const reader = new Reader(bytes);
    this.initial = this.tensors.map((tensor) => reader.floats(size(tensor.shape)));
    this.nodes = this.model.nodes.map((node, place) => {
      return { ...layer(node, sides(header.shapes[place])), tensors: this.tensorsOf(node.shares ?? place) };
    });
  }

  /** Numbers of a layer's tensors. */
  tensorsOf(place) {
    return [...this.tensors.keys()].filter((number) => this.tensors[number].layer === place);
  }

  /** Name and constants of the optimizer. */
  rule() {
    const [[name, constants]] = Object.entries(this.optimizer.rule);
    if (!["sgd", "rms_prop", "adadelta", "adam"].includes(name)) throw new Unsupported(`the rule ${name}`);
    const states = { sgd: constants.momentum ? 1 : 0, rms_prop: 1, adadelta: 2, adam: 2 };
    return { name, ...constants, states: states[name] };
  }

  /** Learning-rate multiplier and weight decay of each tensor. */
  multipliers() {
    return this.tensors.map(({ name, multipliers }) => {
      if (multipliers.frozen_from !== null) throw new Unsupported(`${name} is frozen on the way`);
      const decay = this.optimizer.weight_decay * multipliers.weight_decay;
      return { rate: multipliers.learning_rate, decay };
    });
  }

  /** Converts images to the layout of the network. */
  laidOut(values, rows, shape) {
    return this.layout === "nchw" && shape[2] > 1 ? channelsFirst(values, rows, shape) : values;
  }

  /** Batches of a message: inputs and dropout factors in the layout of the network, with 0 for dropped values. */
  batches(sizes, bytes, steps) {
    const reader = new Reader(bytes);
    return sizes.map((rows, number) => {
      const inputs = this.laidOut(reader.floats(rows * size(this.input)), rows, this.input);
      const labels = reader.integers(rows * this.positions);
      const factors = (steps ? this.dropouts : []).map(({ node, features }) => {
        const { settings, shape } = this.nodes[node];
        const factor = Math.fround(1 / Math.fround(1 - settings.rate));
        const mask = reader.bytes(rows * features);
        return this.laidOut(Float32Array.from(mask, (survives) => survives * factor), rows, shape);
      });
      const step = steps?.[number];
      return { rows, inputs, labels, factors, rates: [step?.scheduled_rate, step?.learning_rate] };
    });
  }

  /** Batch for compilation. */
  blankBatch(rows, training) {
    const factors = training ? this.dropouts.map(({ features }) => new Float32Array(rows * features).fill(1)) : [];
    const inputs = new Float32Array(rows * size(this.input));
    return { rows, inputs, labels: new Int32Array(rows * this.positions), factors, rates: [0, 0] };
  }
}

/** Reads consecutive numbers of a payload. */
class Reader {
  constructor(bytes) {
    this.rest = bytes;
  }

  bytes(count) {
    // Copied, because 4-byte numbers must be aligned to 4 bytes.
    const found = this.rest.slice(0, count);
    if (found.length !== count) throw new Error(`a payload ends ${count - found.length} bytes too early`);
    this.rest = this.rest.subarray(count);
    return found;
  }

  floats(count) {
    return new Float32Array(this.bytes(4 * count).buffer);
  }

  integers(count) {
    return new Int32Array(this.bytes(4 * count).buffer);
  }
}

/** Kind, settings, inputs (-1 for the data) and output shape of a layer. */
function layer(node, shape) {
  const [[kind, settings]] = typeof node.layer === "string" ? [[node.layer, {}]] : Object.entries(node.layer);
  if (settings.zero_padding) throw new Unsupported(`the layer ${kind} with padding that has no vector`);
  const reads = node.inputs.map((source) => (source === "data" ? -1 : source.node));
  return { kind, settings, reads, shape };
}

/** Returns true for a convolution that reads one pixel at a time, which is the same dense layer for each of them. */
export function isPixelwise({ kind, settings: { side, stride, padding } }) {
  return kind === "conv2d" && side === 1 && stride === 1 && !padding.zeros;
}

/** Number of pixels by which pooling windows extend beyond an image, at the bottom and on the right. */
export function overhang([height, width], { side, stride }, given) {
  return [height, width].map((out, axis) => Math.max(0, (out - 1) * stride + side - given[axis]));
}

const number = (value) => (Number.isFinite(value) ? value : null);

/** Handles messages with a framework. */
export class Program {
  constructor(framework) {
    this.framework = framework;
    this.networks = new Map();
  }

  /** Returns the response, `{ header, parts }`, or nothing if the message has none. */
  async answer(message, bytes) {
    try {
      const answer = await this.answered(message, bytes);
      if (this.framework.faults?.length) throw new Error(this.framework.faults.join("; "));
      return answer;
    } catch (error) {
      const unsupported = error instanceof Unsupported;
      const outOfMemory = error instanceof RangeError || /out of memory|allocation failed/i.test(String(error?.message));
      const cause = unsupported ? "unsupported" : outOfMemory ? "out_of_memory" : "failed";
      if (!unsupported) console.error(error);
      return { header: { error: unsupported ? error.message : String(error), cause }, parts: [] };
    }
  }

  async answered(message, bytes) {
    if (message.message === "hello") {
      return { header: { protocol: PROTOCOL, ...this.framework.introduction }, parts: [] };
    }
    if (message.message === "build") return this.build(message, bytes);
    const received = performance.now();
    const { job, network } = this.networks.get(message.network);
    switch (message.message) {
      case "train": {
        const rows = message.steps.map((step) => step.rows);
        const batches = job.batches(rows, bytes, message.steps);
        const { losses, correct, ...times } = await timed(network, batches, "train", received);
        return { header: { losses: Array.from(losses, number), correct, ...times }, parts: [] };
      }
      case "evaluate": {
        const batches = job.batches(message.rows, bytes);
        const { loss, correct, ...times } = await timed(network, batches, "evaluate", received);
        return { header: { loss: number(loss), correct, ...times }, parts: [] };
      }
      case "weights":
        return { header: {}, parts: await network.weights() };
      case "gradients":
        return { header: {}, parts: await network.gradients() };
      case "logits":
        return { header: {}, parts: [(await network.logits()).subarray(0, message.rows * job.classes)] };
      case "forget":
        network.dispose();
        this.networks.delete(message.network);
        return undefined;
      default:
        throw new Error(`there is no message ${message.message}`);
    }
  }

  /** Compiles for every batch size, and discards the training this involves. */
  async build(message, bytes) {
    const began = performance.now();
    const job = new Job(message, bytes);
    const network = this.framework.build(job);
    for (const rows of job.batchSizes) {
      await timed(network, [job.blankBatch(rows, true), job.blankBatch(rows, true)], "train");
    }
    for (const rows of job.testBatchSizes) await timed(network, [job.blankBatch(rows, false)], "evaluate");
    await network.choose?.(job.blankBatch(Math.max(...job.batchSizes), true));
    network.begin();
    this.networks.set(message.network, { job, network });
    const { settings, layout } = network;
    return { header: { compiling_seconds: seconds(began), settings, layout }, parts: [] };
  }
}

const seconds = (began) => (performance.now() - began) / 1000;

/** Returns a network's results and times. Moving batches to the framework is timed separately. */
async function timed(network, batches, what, received = performance.now()) {
  const held = batches.map((batch) => network.hold(batch));
  const began = performance.now();
  const found = await network[what](held);
  return { ...found, preparing_seconds: (began - received) / 1000, seconds: seconds(began) };
}
