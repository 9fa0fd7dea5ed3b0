use crate::Real;
use crate::params::BLOCK_ELEMENTS;

/// Scalars of one update, in the precision of the arithmetic.
#[derive(Clone, Copy, Debug, Default)]
pub struct Update<T> {
    /// Number of the step: blocks that are frozen from here on stay as they are.
    pub step: u32,
    pub learning_rate: T,
    /// `adamw` only: the learning rate without the correction of the averages' bias.
    pub decay_rate: T,
    /// Momentum of `sgd`, rho of `rmsprop` and `adadelta`, beta1 of `adam`.
    pub decay: T,
    /// Beta2 of `adam`.
    pub second_decay: T,
    pub epsilon: T,
    /// `sgd` only: look ahead along the velocity.
    pub nesterov: bool,
    /// `sgd` only: the learning rate is outside of the velocity.
    pub rate_outside: bool,
    /// Gradients are multiplied by this first.
    pub gradient_scale: T,
}

/// Multipliers of one block of 256 elements.
#[derive(Clone, Copy, Debug)]
pub struct Block<T> {
    pub learning_rate: T,
    pub weight_decay: T,
    /// From this step on the block is left as it is.
    pub frozen_from: u32,
}

impl<T: Real> Block<T> {
    /// The gradient of the loss with an L2 penalty.
    fn penalised(&self, gradient: T, weight: T) -> T {
        gradient + self.weight_decay * weight
    }
}

/// Twin of `sgd.wgsl`: `g += decay·w; v = momentum·v + rate·g; w -= v`, as in Caffe, and its variants with the rate
/// outside of the velocity and with Nesterov's look ahead.
///
/// All slices: (elements); `blocks`: one for each 256 elements.
pub fn sgd<T: Real>(update: &Update<T>, blocks: &[Block<T>], gradients: &[T], weights: &mut [T], velocity: &mut [T]) {
    for (i, block) in moving(update, blocks, gradients.len()) {
        let rate = update.learning_rate * block.learning_rate;
        let gradient = block.penalised(update.gradient_scale * gradients[i], weights[i]);
        let push = if update.rate_outside { gradient } else { rate * gradient };
        velocity[i] = update.decay * velocity[i] + push;
        let direction = if update.nesterov { push + update.decay * velocity[i] } else { velocity[i] };
        weights[i] -= if update.rate_outside { rate * direction } else { direction };
    }
}

/// Twin of `rmsprop.wgsl`: `g += decay·w; a = ρa + (1-ρ)g²; w -= rate·g / (√a + ε)`, as in Keras 2.
///
/// All slices: (elements); `blocks`: one for each 256 elements.
pub fn rmsprop<T: Real>(
    update: &Update<T>,
    blocks: &[Block<T>],
    gradients: &[T],
    weights: &mut [T],
    mean_square: &mut [T],
) {
    for (i, block) in moving(update, blocks, gradients.len()) {
        let rate = update.learning_rate * block.learning_rate;
        let gradient = block.penalised(update.gradient_scale * gradients[i], weights[i]);
        follow(&mut mean_square[i], update.decay, gradient * gradient);
        weights[i] -= rate * gradient / (mean_square[i].sqrt() + update.epsilon);
    }
}

/// Twin of `adadelta.wgsl`: `g += decay·w; a = ρa + (1-ρ)g²; u = g·√(d + ε) / √(a + ε); w -= rate·u;
/// d = ρd + (1-ρ)u²`.
///
/// All slices: (elements); `blocks`: one for each 256 elements. `mean_square` is a, `mean_square_update` is d.
pub fn adadelta<T: Real>(
    update: &Update<T>,
    blocks: &[Block<T>],
    gradients: &[T],
    weights: &mut [T],
    mean_square: &mut [T],
    mean_square_update: &mut [T],
) {
    for (i, block) in moving(update, blocks, gradients.len()) {
        let rate = update.learning_rate * block.learning_rate;
        let gradient = block.penalised(update.gradient_scale * gradients[i], weights[i]);
        follow(&mut mean_square[i], update.decay, gradient * gradient);
        let root = (mean_square_update[i] + update.epsilon).sqrt();
        let change = gradient * root / (mean_square[i] + update.epsilon).sqrt();
        weights[i] -= rate * change;
        follow(&mut mean_square_update[i], update.decay, change * change);
    }
}

/// Twin of `adam.wgsl`: `g += decay·w; m = β₁m + (1-β₁)g; v = β₂v + (1-β₂)g²; w -= rate·m / (√v + ε)`, where the
/// rate contains the correction of the averages' bias.
///
/// All slices: (elements); `blocks`: one for each 256 elements. `mean` is m, `mean_square` is v.
pub fn adam<T: Real>(
    update: &Update<T>,
    blocks: &[Block<T>],
    gradients: &[T],
    weights: &mut [T],
    mean: &mut [T],
    mean_square: &mut [T],
) {
    for (i, block) in moving(update, blocks, gradients.len()) {
        let rate = update.learning_rate * block.learning_rate;
        let gradient = block.penalised(update.gradient_scale * gradients[i], weights[i]);
        follow(&mut mean[i], update.decay, gradient);
        follow(&mut mean_square[i], update.second_decay, gradient * gradient);
        weights[i] -= rate * mean[i] / (mean_square[i].sqrt() + update.epsilon);
    }
}

/// Twin of `adamw.wgsl`: `w -= decay rate·decay·w`, then [`adam`] without a penalty.
///
/// All slices: (elements); `blocks`: one for each 256 elements. `mean` is m, `mean_square` is v.
pub fn adamw<T: Real>(
    update: &Update<T>,
    blocks: &[Block<T>],
    gradients: &[T],
    weights: &mut [T],
    mean: &mut [T],
    mean_square: &mut [T],
) {
    for (i, block) in moving(update, blocks, gradients.len()) {
        weights[i] -= update.decay_rate * block.learning_rate * block.weight_decay * weights[i];
    }
    let unpenalised: Vec<Block<T>> = blocks.iter().map(|block| Block { weight_decay: T::ZERO, ..*block }).collect();
    adam(update, &unpenalised, gradients, weights, mean, mean_square);
}

/// Twin of `average.wgsl`: `s = keep·s + (1 - keep)·w`; `mode` is the step's: 0 nothing, 1 that, 2 and then `w = s`.
///
/// Both slices: (elements).
pub fn average<T: Real>(mode: u32, keep: T, weights: &mut [T], shadow: &mut [T]) {
    if mode == 0 {
        return;
    }
    for (weight, shadow) in weights.iter_mut().zip(shadow) {
        follow(shadow, keep, *weight);
        if mode == 2 {
            *weight = *shadow;
        }
    }
}

/// Elements that are not frozen at this step, with their block.
fn moving<T: Real>(
    update: &Update<T>,
    blocks: &[Block<T>],
    elements: usize,
) -> impl Iterator<Item = (usize, Block<T>)> {
    (0..elements).map(|i| (i, blocks[i / BLOCK_ELEMENTS as usize])).filter(|(_, block)| block.frozen_from > update.step)
}

/// Moves an exponential average towards `value`.
fn follow<T: Real>(average: &mut T, keep: T, value: T) {
    *average = keep * *average + (T::ONE - keep) * value;
}
