use crate::Real;
use crate::params::BLOCK_ELEMENTS;

/// Scalars of one update, in the precision of the arithmetic.
#[derive(Clone, Copy, Debug)]
pub struct Update<T> {
    pub learning_rate: T,
    /// Momentum of `sgd`, rho of `rmsprop`.
    pub decay: T,
    pub epsilon: T,
}

/// Multipliers of one block of 256 elements.
#[derive(Clone, Copy, Debug)]
pub struct Block<T> {
    pub learning_rate: T,
    pub weight_decay: T,
}

/// Twin of `sgd.wgsl`: `g += decay·w; v = momentum·v + rate·g; w -= v`, as in Caffe.
///
/// All slices: (elements); `blocks`: one for each 256 elements.
pub fn sgd<T: Real>(update: &Update<T>, blocks: &[Block<T>], gradients: &[T], weights: &mut [T], velocity: &mut [T]) {
    each(update, blocks, gradients, weights, velocity, |rate, gradient, weight, velocity| {
        *velocity = update.decay * *velocity + rate * gradient;
        *weight -= *velocity;
    });
}

/// Twin of `rmsprop.wgsl`: `a = ρa + (1-ρ)g²; w -= rate·g / (√a + ε)`, as in Keras 2.
///
/// All slices: (elements); `blocks`: one for each 256 elements.
pub fn rmsprop<T: Real>(
    update: &Update<T>,
    blocks: &[Block<T>],
    gradients: &[T],
    weights: &mut [T],
    mean_square: &mut [T],
) {
    each(update, blocks, gradients, weights, mean_square, |rate, gradient, weight, mean_square| {
        *mean_square = update.decay * *mean_square + (T::ONE - update.decay) * gradient * gradient;
        *weight -= rate * gradient / (mean_square.sqrt() + update.epsilon);
    });
}

/// Applies `rule(rate, gradient with decay, weight, state)` to every element.
fn each<T: Real>(
    update: &Update<T>,
    blocks: &[Block<T>],
    gradients: &[T],
    weights: &mut [T],
    state: &mut [T],
    rule: impl Fn(T, T, &mut T, &mut T),
) {
    for (i, ((&gradient, weight), state)) in gradients.iter().zip(weights).zip(state).enumerate() {
        let block = blocks[i / BLOCK_ELEMENTS as usize];
        let gradient = gradient + block.weight_decay * *weight;
        rule(update.learning_rate * block.learning_rate, gradient, weight, state);
    }
}
