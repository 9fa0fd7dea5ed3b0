// Shared code of the programs: the messages of docs/EXTERNAL.md, answered by a framework, and their batches.
//
// A framework is `{ introduction, build(job), faults }`. `build` gives a network, which has
//   settings            texts for the record
//   layout              how images lie in it: nhwc or nchw
//   train(batches)      a step on each; `{ losses, correct }`, with the losses before the updates
//   evaluate(batches)   `{ loss, correct }`, the sum of the samples' losses
//   weights(), gradients(), logits()   Float32Arrays, in the order and layout of the job's tensors; the latter two are
//                       from the last training step
//   dispose()
// and may have
//   choose(batch)       finds how it trains fastest, once it is compiled; the weights begin anew afterwards
// and `faults`, where there are any, gets what the device reports between answers.

const PROTOCOL = 1;

/** A layer, rule or loss that the program does not have. */
export class Unsupported extends Error {}

/** Sides of an image as (rows, height, width, channels). */
export const sides = (shape) => [shape.height, shape.width, shape.channels];

const size = (sides) => sides.reduce((product, side) => product * side, 1);

/** Images (rows, height, width, channels) with their channels first. */
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

/** A network with all that training it takes, as the message `build` has it, and start values of its tensors. */
export class Job {
  constructor(header, bytes) {
    Object.assign(this, {
      model: header.model,
      tensors: header.tensors,
      loss: header.loss,
      classes: header.classes,
      batchSizes: header.batch_sizes,
      testBatchSizes: header.test_batch_sizes,
      dropouts: header.dropouts,
      optimizer: header.optimizer,
      layout: "nhwc",
    });
    for (const tensor of this.tensors) {
      if (tensor.kind !== "trained") throw new Unsupported(`${tensor.name} is not trained by the optimiser`);
    }
    this.input = sides(this.model.input);
    const reader = new Reader(bytes);
    this.initial = this.tensors.map((tensor) => reader.floats(size(tensor.shape)));
    this.nodes = this.model.nodes.map((node, place) => layer(node, sides(header.shapes[place])));
  }

  /** Name and constants of the optimiser's rule. */
  rule() {
    if (this.optimizer.largest_gradient !== undefined) throw new Unsupported("a limit on the length of all gradients");
    const [[name, constants]] = Object.entries(this.optimizer.rule);
    if (!["sgd", "rms_prop", "adadelta", "adam"].includes(name) || constants.decoupled) {
      throw new Unsupported(`the rule ${name}${constants.decoupled ? " with decoupled weight decay" : ""}`);
    }
    const states = { sgd: constants.momentum ? 1 : 0, rms_prop: 1, adadelta: 2, adam: 2 };
    return { name, ...constants, states: states[name] };
  }

  /** For each tensor: of the learning rate, and the weight decay. */
  multipliers() {
    return this.tensors.map(({ name, multipliers }) => {
      if (multipliers.frozen_from !== null) throw new Unsupported(`${name} is frozen on the way`);
      const decay = this.optimizer.weight_decay * multipliers.weight_decay;
      return { rate: multipliers.learning_rate, decay };
    });
  }

  /** Images in the layout of the network. */
  laidOut(values, rows, shape) {
    return this.layout === "nchw" && shape[2] > 1 ? channelsFirst(values, rows, shape) : values;
  }

  /** The batches of a message: inputs and factors of dropout as the layout has them, 0 for what is dropped. */
  batches(sizes, bytes, steps) {
    const reader = new Reader(bytes);
    return sizes.map((rows, number) => {
      const inputs = this.laidOut(reader.floats(rows * size(this.input)), rows, this.input);
      const labels = reader.integers(rows);
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

  /** One to get ready with. */
  blankBatch(rows, training) {
    const factors = training ? this.dropouts.map(({ features }) => new Float32Array(rows * features).fill(1)) : [];
    const inputs = new Float32Array(rows * size(this.input));
    return { rows, inputs, labels: new Int32Array(rows), factors, rates: [0, 0] };
  }
}

/** Numbers of a payload, one after the other. */
class Reader {
  constructor(bytes) {
    this.rest = bytes;
  }

  bytes(count) {
    // Copied, because numbers of four bytes must begin at a multiple of four.
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

/** Kind, settings, what it reads (-1 for the data) and the sides of what a layer makes. */
function layer(node, shape) {
  const [[kind, settings]] = typeof node.layer === "string" ? [[node.layer, {}]] : Object.entries(node.layer);
  if (node.shares !== undefined || settings.zero_padding) {
    throw new Unsupported(`the layer ${kind} with the weights of another, or with padding that has no vector`);
  }
  const reads = node.inputs.map((source) => (source === "data" ? -1 : source.node));
  return { kind, settings, reads, shape, hasBias: settings.weights?.bias != null };
}

/** How many pixels of their windows lie beyond an image, at the bottom and on the right. */
export function overhang([height, width], { side, stride }, given) {
  return [height, width].map((out, axis) => Math.max(0, (out - 1) * stride + side - given[axis]));
}

const number = (value) => (Number.isFinite(value) ? value : null);

/** Answers messages with a framework. */
export class Program {
  constructor(framework) {
    this.framework = framework;
    this.networks = new Map();
  }

  /** The answer, `{ header, parts }`, or nothing where none is due. */
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

  /** Compiles for every size of batch, and forgets what that trained. */
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

/** What a network finds on batches that the framework holds before the clock starts, and what holding them took. */
async function timed(network, batches, what, received = performance.now()) {
  const held = batches.map((batch) => network.hold(batch));
  const began = performance.now();
  const found = await network[what](held);
  return { ...found, preparing_seconds: (began - received) / 1000, seconds: seconds(began) };
}
