"""The memory networks of the golden traces: Keras's layers in graphs, where workloads.py has lists."""
import jax, jax.numpy as jnp
import numpy as np
from keras import layers as kl, ops


LIMIT = 0.1 * np.sqrt(3)  # uniform numbers with the deviation of the paper's normal ones


class Position(kl.Layer):
    """Adds a learned vector to each place."""
    def build(self, shape):
        self.kernel = self.add_weight(shape=shape[-2:], name="kernel")

    def call(self, x):
        return x + self.kernel


def position_encoding(words, units):
    """Sukhbaatar et al. (2015), section 4.1: (1 - j/J) - (k/d)(1 - 2j/J), both counted from 1."""
    j, k = np.arange(1, words + 1)[:, None] / words, np.arange(1, units + 1) / units
    return (1 - j) - k * (1 - 2 * j)


class MemN2N:
    """Three hops over 10 sentences of 6 words; adjacent tying. While it is `linear`, it has no softmax but the loss's."""
    linear = False

    def __init__(self, memories=10, words=6, vocabulary=20, units=20, hops=3):
        self.memories, self.length, self.units, self.hops = memories, words, units, hops
        self.words = [kl.Embedding(vocabulary, units) for _ in range(hops + 1)]
        self.places = [Position() for _ in range(hops + 1)]
        self.parts = [part for pair in zip(self.words, self.places) for part in pair]
        for part in self.parts:
            part.golden_limit = LIMIT

    def sentences(self, words, numbers):
        vectors = words(numbers) * (numbers != 0)[..., None].astype(words.compute_dtype)
        return jnp.sum(vectors * position_encoding(self.length, self.units).astype(vectors.dtype), axis=-2)

    def __call__(self, x):
        x = jnp.reshape(x, (-1, self.memories + 1, self.length))
        told = [place(self.sentences(words, x[:, :-1])) for words, place in zip(self.words, self.places)]
        state = self.sentences(self.words[0], x[:, -1])
        for asked, answering in zip(told, told[1:]):
            scores = jnp.einsum("bd,bmd->bm", state, asked)
            shares = scores if self.linear else jax.nn.softmax(scores, axis=-1)
            state = state + jnp.einsum("bm,bmd->bd", shares, answering)
        return state @ ops.convert_to_tensor(self.words[-1].embeddings).T


class Matching:
    """What Keras's memory network has in front of its LSTM: the words of the question with what they found in the story."""
    def __init__(self, story=68, question=4, vocabulary=22, units=64):
        self.story = story
        self.parts = [kl.Embedding(vocabulary, size) for size in (units, question, units)]

    def __call__(self, x):
        told, asked = x[:, :self.story], x[:, self.story:]
        asked_of, answering, question = (part(words) for part, words in zip(self.parts, (told, told, asked)))
        matched = jax.nn.softmax(jnp.einsum("bsd,bqd->bsq", asked_of, question), axis=-1)
        return jnp.concatenate([jnp.swapaxes(matched + answering, 1, 2), question], axis=-1)
