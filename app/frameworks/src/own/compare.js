// Compares a program with its framework's own training loop: the same networks and batch sizes, in turns, each timed
// from data in memory to a loss that was read back. The response to the only message,
// `{ "network": NAME, "steps": N, "rounds": N }`, has the seconds per step of each round. This verifies that a
// framework is not slower here than alone.

import { Job } from "../program.js";

const layer = (kind, settings, from) => ({ layer: { [kind]: settings }, inputs: [from < 0 ? "data" : { node: from }] });
const weights = { bias: {} };
const dense = (units, activation, from) => layer("dense", { units, activation, weights }, from);
const convolution = (from) =>
  layer("conv2d", { stride: 1, padding: "valid", activation: "relu", weights }, from);
const image = (height, width, channels) => ({ height, width, channels });
const vector = (features) => image(1, 1, features);

/** Networks as in the message `build` of docs/EXTERNAL.md. `fans` is the number of inputs of each layer's neurons. */
const NETWORKS = {
  mlp: {
    input: image(28, 28, 1),
    nodes: [dense(512, "relu", -1), dense(512, "relu", 0), dense(10, "identity", 1)],
    shapes: [vector(512), vector(512), vector(10)],
    tensors: [[784, 512], [512], [512, 512], [512], [512, 10], [10]],
    batch: 128,
  },
  cnn: {
    input: image(28, 28, 1),
    nodes: [
      convolution(-1),
      convolution(0),
      layer("pool", { kind: "max", side: 2, stride: 2, padding: 0, activation: "identity" }, 1),
      dense(128, "relu", 2),
      dense(10, "identity", 3),
    ],
    shapes: [image(26, 26, 32), image(24, 24, 64), image(12, 12, 64), vector(128), vector(10)],
    tensors: [[3, 3, 1, 32], [32], [3, 3, 32, 64], [64], [9216, 128], [128], [128, 10], [10]],
    batch: 32,
  },
};
export const RATE = 0.01;

const size = (shape) => shape.reduce((product, side) => product * side, 1);

/** Deterministic pseudorandom numbers. */
function numbers(count, scale) {
  let state = 1;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 31 - 1) * scale;
  });
}

function job({ input, nodes, shapes, tensors, batch }) {
  const parts = tensors.map((shape) => numbers(size(shape), shape.length > 1 ? 1 / Math.sqrt(size(shape) / shape.at(-1)) : 0));
  const bytes = new Uint8Array(4 * parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(new Uint8Array(part.buffer), at);
    at += part.byteLength;
  }
  const multipliers = { learning_rate: 1, weight_decay: 0, frozen_from: null };
  // Each layer with weights has two tensors.
  const owners = [...nodes.keys()].filter((place) => !nodes[place].layer.pool);
  const header = {
    model: { input, nodes },
    shapes,
    tensors: tensors.map((shape, place) => {
      return { name: `tensor ${place}`, layer: owners[Math.floor(place / 2)], kind: "trained", shape, multipliers };
    }),
    loss: { summed: false, label_smoothing: 0, logits_scale: 1 },
    classes: 10,
    positions: 1,
    batch_sizes: [batch],
    test_batch_sizes: [],
    dropouts: [],
    optimizer: { rule: { sgd: { momentum: 0 } }, weight_decay: 0 },
  };
  return new Job(header, bytes);
}

async function timed(steps, train) {
  const began = performance.now();
  await train();
  return (performance.now() - began) / 1000 / steps;
}

/** Compares the two. `own(network, data)` returns a function that trains on all of `data` and reads back a loss. */
export async function compare(opening, own, { network: name, steps, rounds }) {
  const framework = await opening;
  const described = NETWORKS[name];
  const [{ batch, input }, count] = [described, size([described.batch, steps])];
  const inputs = numbers(count * size(Object.values(input)), 1);
  const labels = Int32Array.from({ length: count }, (_, number) => number % 10);
  const ownTrain = await own(name, { inputs, labels, batch, steps });
  const network = framework.build(job(described));
  const held = () =>
    Array.from({ length: steps }, (_, number) => {
      const pixels = size(Object.values(input)) * batch;
      return network.hold({
        rows: batch,
        inputs: network.job.laidOut(inputs.slice(number * pixels, (number + 1) * pixels), batch, Object.values(input)),
        labels: labels.slice(number * batch, (number + 1) * batch),
        factors: [],
        rates: [RATE, RATE],
      });
    });
  await network.train(held());
  await network.choose?.({ rows: batch, inputs: inputs.slice(0, batch * size(Object.values(input))), labels: labels.slice(0, batch), factors: [], rates: [RATE, RATE] });
  await ownTrain();
  const found = { version: framework.introduction.version, device: framework.introduction.device, ours: [], own: [] };
  for (let round = 0; round < rounds; round++) {
    const batches = held();
    found.ours.push(await timed(steps, () => network.train(batches)));
    found.own.push(await timed(steps, ownTrain));
  }
  return found;
}

/** Handles the message in a worker. */
export function serve(opening, own) {
  self.onmessage = async ({ data: { header } }) => {
    let answer;
    try {
      answer = await compare(opening, own, JSON.parse(header));
    } catch (error) {
      answer = { error: String(error?.stack ?? error) };
    }
    self.postMessage({ header: JSON.stringify(answer), payload: new ArrayBuffer(0) });
  };
}
