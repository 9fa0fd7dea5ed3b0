"""Language models of the golden traces: nanoGPT's blocks as Keras's layers, and the text that they read.

Written by hand are layer normalization, which Keras computes in float32 even on float64, attention, for which Keras has
other tensors, and the tied output.
"""
from collections import Counter
from functools import partial, reduce
from itertools import chain, count

import jax, jax.numpy as jnp
import numpy as np
from keras import activations, layers as kl, ops

from memories import Position

WINDOW = 16  # characters that the reduced networks read
CLASSES = 80  # the most frequent characters, and one class for all others
EMBEDDING_LIMIT = 0.02 * np.sqrt(3)  # uniform numbers with the deviation of nanoGPT's normal ones


class LayerNorm(kl.LayerNormalization):
    def __init__(self):
        super().__init__(epsilon=1e-5, center=False)

    def call(self, x):
        centered = x - jnp.mean(x, -1, keepdims=True)
        return centered / jnp.sqrt(jnp.mean(centered * centered, -1, keepdims=True) + self.epsilon) * self.gamma


def token_wise(filters, act=None):
    return kl.Conv2D(filters, 1, activation=act, use_bias=False)


def gelu(x):
    return activations.gelu(x, approximate=False)


def attention(x, heads):
    """softmax(q k^T / sqrt(d)) v of each token with itself and those before it; q, k and v are thirds of the channels."""
    rows, _, tokens, channels = x.shape
    q, k, v = jnp.moveaxis(x.reshape(rows, tokens, 3, heads, -1), 2, 0)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]).astype(x.dtype)
    shares = jax.nn.softmax(jnp.where(np.tri(tokens, dtype=bool), scores, -jnp.inf), axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", shares, v).reshape(rows, 1, tokens, channels // 3)


def through(layers, x):
    return reduce(lambda x, layer: layer(x), layers, x)


class LanguageModel:
    """Pre-norm blocks over a window of characters, as an image of one row; `drop` makes its dropout places, if any."""

    def __init__(self, channels, heads, blocks, drop=None):
        places = count()

        def dropped(after):
            return [drop(next(places), after=after, features=WINDOW * channels)] if drop else []

        self.characters, position = kl.Embedding(CLASSES, channels), Position()
        self.characters.golden_limit = position.golden_limit = EMBEDDING_LIMIT
        self.first = [self.characters, position, *dropped("positions")]
        self.branches = [branch for block in range(1, blocks + 1) for branch in (
            [LayerNorm(), token_wise(3 * channels), partial(attention, heads=heads), token_wise(channels),
             *dropped(f"attention of block {block}")],
            [LayerNorm(), token_wise(4 * channels, gelu), token_wise(channels), *dropped(f"MLP of block {block}")])]
        self.norm = LayerNorm()
        self.parts = [*self.first, *chain(*self.branches), self.norm]

    def __call__(self, x):
        x = through(self.first, x[:, None])
        for branch in self.branches:
            x = x + through(branch, x)
        return self.norm(x)[:, 0] @ ops.convert_to_tensor(self.characters.embeddings).T


def windows(text):
    """Windows of the text without its last tenth, their labels (the next characters), and the same of the last tenth."""
    frequent = sorted(Counter(text).items(), key=lambda item: (-item[1], item[0]))[:CLASSES - 1]
    numbers = {character: n for n, character in enumerate(sorted(character for character, _ in frequent))}
    numbered = np.array([numbers.get(character, CLASSES - 1) for character in text], np.int32)
    trained = len(text) - len(text) // 10

    def rows(part, first):
        return part[first:][:(len(part) - 1) // WINDOW * WINDOW].reshape(-1, WINDOW)

    return [rows(part, first) for part in (numbered[:trained], numbered[trained:]) for first in (0, 1)]
