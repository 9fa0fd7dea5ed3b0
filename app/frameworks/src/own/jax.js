// jax-js as its documentation and its MNIST example train: `jit` around a step, with a wait after each.

import { blockUntilReady, jit, lax, nn, numpy as np, tree, valueAndGrad } from "@jax-js/jax";
import { RATE } from "./compare.js";

const uniform = (shape, fan) => {
  const count = shape.reduce((product, side) => product * side, 1);
  return np.array(Float32Array.from({ length: count }, () => (2 * Math.random() - 1) / Math.sqrt(fan))).reshape(shape);
};
const layer = (into, out) => [uniform([into, out], into), np.zeros([out])];
const kernel = (out, into) => [uniform([out, into, 3, 3], 9 * into), np.zeros([out])];

const connected = (x, [weight, bias]) => np.matmul(x, weight).add(bias);
const convolved = (x, [weight, bias]) =>
  lax.convGeneralDilated(x, weight, [1, 1], "VALID").add(bias.reshape([1, -1, 1, 1]));

const NETWORKS = {
  mlp: {
    weights: () => [layer(784, 512), layer(512, 512), layer(512, 10)],
    forward([first, second, last], x) {
      const hidden = nn.relu(connected(nn.relu(connected(x.reshape([-1, 784]), first)), second));
      return connected(hidden, last);
    },
  },
  cnn: {
    weights: () => [kernel(32, 1), kernel(64, 32), layer(9216, 128), layer(128, 10)],
    forward([first, second, third, last], x) {
      const features = nn.relu(convolved(nn.relu(convolved(x, first)), second));
      const pooled = lax.reduceWindow(features, np.max, [2, 2], [2, 2]);
      return connected(nn.relu(connected(pooled.reshape([-1, 9216]), third)), last);
    },
  },
};

export async function own(name, { inputs, labels, batch, steps }) {
  const { weights, forward } = NETWORKS[name];
  const loss = (weights, x, targets) => np.mean(np.sum(nn.logSoftmax(forward(weights, x)).mul(targets), -1)).neg();
  const step = jit((weights, x, targets) => {
    const [value, gradients] = valueAndGrad(loss)(tree.ref(weights), x, targets);
    return [tree.map((weight, gradient) => weight.sub(gradient.mul(RATE)), weights, gradients), value];
  });
  const batches = Array.from({ length: steps }, (_, number) => ({
    x: np.array(inputs.slice(number * batch * 784, (number + 1) * batch * 784)).reshape([batch, 1, 28, 28]),
    targets: nn.oneHot(np.array(labels.slice(number * batch, (number + 1) * batch), { dtype: np.int32 }), 10),
  }));
  let held = weights();
  return async () => {
    let value;
    for (const { x, targets } of batches) {
      [held, value] = step(held, x.ref, targets.ref);
      await blockUntilReady(value);
    }
    // Include the last update in the time.
    await blockUntilReady(held);
    return value.data();
  };
}
