"""Recurrent layers of the traces beside Keras's LSTM, and how many blocks of units the kernels of each have."""
import jax
import jax.numpy as jnp
from keras import layers as kl, ops


class TwoBiases(kl.GRUCell):
    """Keras's own, with each of its two biases as a tensor of its own: (2, 3*units) there."""

    def __init__(self, units):
        super().__init__(units, activation=jnp.tanh, recurrent_activation=jax.nn.sigmoid, use_bias=False, reset_after=True)

    def build(self, input_shape):
        super().build(input_shape)
        self.biases = [self.add_weight(shape=(3 * self.units,), initializer="zeros", name=name) for name in ("bias", "recurrent_bias")]
        self.use_bias = True

    def call(self, inputs, states, training=False):
        self.bias = ops.stack(self.biases)
        return super().call(inputs, states, training)


class GRU(kl.RNN):
    def __init__(self, units):
        super().__init__(TwoBiases(units))
        self.units = units


GATES = {kl.LSTM: 4, GRU: 3, kl.SimpleRNN: 1}


def simple_rnn(units):
    return kl.SimpleRNN(units, activation=jnp.tanh)
