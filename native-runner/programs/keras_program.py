"""Keras 3 as a back end of Gradmark, on JAX or on TensorFlow: KERAS_BACKEND says which.

    pip install keras jax tensorflow-cpu
    native-runner --backend wgsl,keras-jax --workload keras-mnist-mlp --program keras-jax

Images lie channels last, or with `--layout nchw` channels first. On JAX a step is one compiled function (`jax.jit`) that may
overwrite weights and states; on TensorFlow it is a `tf.function`. Many steps are under way before anything is read back, as
in `Model.fit`.
"""

import functools
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras  # noqa: E402
import numpy as np  # noqa: E402

from gradmark_program import serve  # noqa: E402
from keras_network import KerasNetwork  # noqa: E402


def on_jax():
    import jax

    class OnJax(KerasNetwork):
        def begin(self):
            self.held = [jax.numpy.asarray(value) for value in self.job.initial]
            self.states = [[jax.numpy.asarray(value) for value in state] for state in self.initial_states]
            self.last = None

        def step(self, inputs, labels, factors, rates, keeps):
            result = self.compiled_step(self.held, self.states, inputs, labels, factors, rates, keeps)
            self.held, self.states, loss, correct, last = result
            self.last = last if keeps else self.last
            return loss, correct

        @functools.partial(jax.jit, static_argnums=(0, 7), donate_argnums=(1, 2))
        def compiled_step(self, weights, states, inputs, labels, factors, rates, keeps):
            def objective(weights):
                with keras.StatelessScope(list(zip(self.variables, weights))):
                    return self.objective(inputs, labels, factors)

            (_, (logits, total, correct)), gradients = jax.value_and_grad(objective, has_aux=True)(weights)
            weights, states = self.next(weights, gradients, states, rates)
            return weights, states, total / labels.shape[0], correct, (gradients, logits) if keeps else None

        def test(self, inputs, labels):
            return self.compiled_test(self.held, inputs, labels)

        @functools.partial(jax.jit, static_argnums=0)
        def compiled_test(self, weights, inputs, labels):
            with keras.StatelessScope(list(zip(self.variables, weights))):
                _, (_, total, correct) = self.objective(inputs, labels, [])
            return total, correct

        def weights(self):
            return [np.asarray(weight) for weight in self.held]

    device = jax.devices()[0]
    kind = "cpu" if device.platform == "cpu" else "discrete"
    return OnJax, f"Keras {keras.__version__}, JAX {jax.__version__}", device.device_kind, kind


def on_tensorflow():
    import tensorflow as tf

    class OnTensorFlow(KerasNetwork):
        def begin(self):
            for variable, value in zip(self.variables, self.job.initial):
                variable.assign(value)
            if not hasattr(self, "states"):
                self.states = [[tf.Variable(value) for value in state] for state in self.initial_states]
            for held, state in zip(self.states, self.initial_states):
                for variable, value in zip(held, state):
                    variable.assign(value)
            self.last = None

        def step(self, inputs, labels, factors, rates, keeps):
            tensors = [tf.convert_to_tensor(each) for each in (inputs, labels, rates)]
            factors = [tf.convert_to_tensor(factor) for factor in factors]
            loss, correct, last = self.compiled_step(*tensors[:2], factors, tensors[2], keeps)
            self.last = last if keeps else self.last
            return loss, correct

        @tf.function
        def compiled_step(self, inputs, labels, factors, rates, keeps):
            with tf.GradientTape() as tape:
                objective, (logits, total, correct) = self.objective(inputs, labels, factors)
            weights = [variable.value for variable in self.variables]
            gradients = [tf.convert_to_tensor(each) for each in tape.gradient(objective, weights)]
            weights, states = self.next(weights, gradients, self.states, rates)
            for variable, weight in zip(self.variables, weights):
                variable.assign(weight)
            for held, state in zip(self.states, states):
                for variable, value in zip(held, state):
                    variable.assign(value)
            return total / labels.shape[0], correct, (gradients, logits) if keeps else ()

        def test(self, inputs, labels):
            return self.compiled_test(tf.convert_to_tensor(inputs), tf.convert_to_tensor(labels))

        @tf.function
        def compiled_test(self, inputs, labels):
            _, (_, total, correct) = self.objective(inputs, labels, [])
            return total, correct

        def weights(self):
            return [variable.numpy() for variable in self.variables]

    gpus = tf.config.list_physical_devices("GPU")
    device = tf.config.experimental.get_device_details(gpus[0]).get("device_name", "GPU") if gpus else "cpu"
    return OnTensorFlow, f"Keras {keras.__version__}, TensorFlow {tf.__version__}", device, "discrete" if gpus else "cpu"


def main():
    backend = keras.backend.backend()
    frameworks = {"jax": on_jax, "tensorflow": on_tensorflow}
    if backend not in frameworks:
        raise SystemExit(f"KERAS_BACKEND is {backend}, and it must be one of {', '.join(frameworks)}")
    network, version, device, kind = frameworks[backend]()

    def build(job):
        return network(job), [f"framework: {version}"]

    serve({"framework": f"Keras on {backend}", "version": version, "device": device, "device_kind": kind}, build)


if __name__ == "__main__":
    main()
