// TensorFlow.js as its guides and its MNIST example train: a model of layers, and `fit`.

import * as tf from "@tensorflow/tfjs-core";
import { layers, sequential } from "@tensorflow/tfjs-layers";
import { RATE } from "./compare.js";

const { conv2d, dense, flatten, maxPooling2d } = layers;
const relu = "relu";
const LAYERS = {
  mlp: () => [
    flatten({ inputShape: [28, 28, 1] }),
    dense({ units: 512, activation: relu }),
    dense({ units: 512, activation: relu }),
  ],
  cnn: () => [
    conv2d({ inputShape: [28, 28, 1], filters: 32, kernelSize: 3, activation: relu }),
    conv2d({ filters: 64, kernelSize: 3, activation: relu }),
    maxPooling2d({ poolSize: 2 }),
    flatten(),
    dense({ units: 128, activation: relu }),
  ],
};

export async function own(name, { inputs, labels, batch, steps }) {
  const model = sequential({ layers: [...LAYERS[name](), dense({ units: 10, activation: "softmax" })] });
  model.compile({ optimizer: tf.train.sgd(RATE), loss: "categoricalCrossentropy", metrics: ["accuracy"] });
  const images = tf.tensor(inputs, [batch * steps, 28, 28, 1]);
  const classes = tf.oneHot(tf.tensor1d(labels, "int32"), 10);
  // Otherwise it waits for animation frames, which a worker does not have.
  return () => model.fit(images, classes, { batchSize: batch, epochs: 1, shuffle: false, verbose: 0, yieldEvery: "never" });
}
