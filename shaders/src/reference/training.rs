//! The loss, the gradients of all tensors together, and the update of the weights.

use crate::Real;
use crate::params::{BLOCK_ELEMENTS, RoundWeights, Softmax, Step, StepResult, SumParts};

/// Twin of `softmax_cross_entropy.wgsl`, and of `softmax_many_answers.wgsl` with `softmax_total.wgsl`: mean loss, count
/// of right answers, and the logits' gradient.
/// `logits`, `gradient`: (B, P, stride); `labels`: (B, P). Samples from `step.count` on and padding get gradient zero.
/// Returns the loss in this precision, and what the kernel stores.
pub fn softmax_cross_entropy<T: Real>(
    params: &Softmax,
    step: &Step,
    logits: &[T],
    labels: &[u32],
    gradient: &mut [T],
) -> (T, StepResult) {
    let (classes, stride) = (params.classes as usize, params.stride as usize);
    let count = step.count.min(params.rows);
    let share = T::ONE / T::from_f64(f64::from((count + step.elsewhere) * params.positions));
    let weight = if params.summed == 1 { T::ONE } else { share };
    let scale = T::from_f64(f64::from(params.logits_scale));
    let gradient_scale = T::from_f64(f64::from(params.gradient_scale));
    let spread = T::from_f64(f64::from(params.label_smoothing));
    let each = spread / T::from_f64(f64::from(params.classes));
    // In single precision, sums over thousands of answers would be wrong by up to a thousandth.
    let (mut loss, mut correct) = (0.0, 0);
    gradient.fill(T::ZERO);
    for row in 0..(count * params.positions) as usize {
        let logits: Vec<T> = logits[row * stride..row * stride + classes].iter().map(|&logit| scale * logit).collect();
        let label = labels[row] as usize;
        let largest = logits.iter().copied().fold(logits[0], T::maximum);
        let sum: T = logits.iter().map(|&logit| (logit - largest).exp()).sum();
        // The first of equal logits is the answer.
        let answer = logits.iter().position(|&logit| logit == largest);
        correct += u32::from(answer == Some(label));
        for (class, (gradient, &logit)) in gradient[row * stride..].iter_mut().zip(&logits).enumerate() {
            let probability = (logit - largest).exp() / sum;
            let target = if class == label { T::ONE - spread + each } else { each };
            loss += (target * (sum.ln() + largest - logit)).to_f64();
            *gradient = (probability - target) * weight * scale * gradient_scale;
        }
    }
    let loss = T::from_f64(loss * share.to_f64());
    #[expect(clippy::cast_possible_truncation, reason = "the record keeps losses in float32")]
    let stored = StepResult { loss: loss.to_f64() as f32, correct, mark: step.mark };
    (loss, stored)
}

/// Twin of `sum_parts.wgsl`: `sum[i] = Σ parts[p, i]`, in the order of the parts, added to the existing sum if the
/// parameters say so.
/// `parts`: (parts, elements); `sum`: (elements).
pub fn sum_parts<T: Real>(params: &SumParts, parts: &[T], sum: &mut [T]) {
    let mut total = vec![T::ZERO; sum.len()];
    for part in parts.chunks_exact(params.elements as usize).take(params.parts as usize) {
        for (total, &part) in total.iter_mut().zip(part) {
            *total += part;
        }
    }
    for (sum, total) in sum.iter_mut().zip(total) {
        *sum = if params.accumulate == 1 { *sum + total } else { total };
    }
}

/// Twin of `limit_gradients.wgsl`, and of `gradient_squares.wgsl` with `limit_many_gradients.wgsl`, of all tensors of a
/// network: what gradients are multiplied by, so that together they are no longer than `limit`. In single precision,
/// small squares would vanish next to the sum of many.
pub fn gradient_factor<'a, T: Real>(limit: T, gradients: impl Iterator<Item = &'a [T]>) -> T {
    let squares = gradients.flatten().map(|gradient| gradient.to_f64() * gradient.to_f64());
    let length = T::from_f64(squares.sum::<f64>().sqrt());
    if length > limit { limit / length } else { T::ONE }
}

/// Gradients and scalars of one update, in the precision of the arithmetic. All slices of an update: (elements).
#[derive(Clone, Copy, Debug, Default)]
pub struct Update<'a, T> {
    pub gradients: &'a [T],
    /// Multipliers of each 256 elements.
    pub blocks: &'a [Block<T>],
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

impl<T: Real> Update<'_, T> {
    /// Returns the elements that are not frozen at this step, with their block.
    fn moving(&self) -> impl Iterator<Item = (usize, Block<T>)> {
        let elements = (0..self.gradients.len()).map(|i| (i, self.blocks[i / BLOCK_ELEMENTS as usize]));
        elements.filter(|(_, block)| block.frozen_from > self.step)
    }

    /// Changes the elements that are not frozen: `change` gets the index of a weight, the weight, its rate, and the
    /// gradient of the loss with an L2 penalty.
    fn apply(&self, weights: &mut [T], mut change: impl FnMut(usize, &mut T, T, T)) {
        for (i, block) in self.moving() {
            let gradient = self.gradient_scale * self.gradients[i] + block.weight_decay * weights[i];
            change(i, &mut weights[i], self.learning_rate * block.learning_rate, gradient);
        }
    }
}

/// Twin of `sgd.wgsl`: `g += decay·w; v = momentum·v + rate·g; w -= v`, as in Caffe, and its variants with the rate
/// outside of the velocity and with Nesterov's look ahead.
pub fn sgd<T: Real>(update: &Update<T>, weights: &mut [T], [velocity, _]: [&mut [T]; 2]) {
    update.apply(weights, |i, weight, rate, gradient| {
        let push = if update.rate_outside { gradient } else { rate * gradient };
        velocity[i] = update.decay * velocity[i] + push;
        let direction = if update.nesterov { push + update.decay * velocity[i] } else { velocity[i] };
        *weight -= if update.rate_outside { rate * direction } else { direction };
    });
}

/// Twin of `rmsprop.wgsl`: `g += decay·w; a = ρa + (1-ρ)g²; w -= rate·g / (√a + ε)`, as in Keras 2.
pub fn rmsprop<T: Real>(update: &Update<T>, weights: &mut [T], [mean_square, _]: [&mut [T]; 2]) {
    update.apply(weights, |i, weight, rate, gradient| {
        follow(&mut mean_square[i], update.decay, gradient * gradient);
        *weight -= rate * gradient / (mean_square[i].sqrt() + update.epsilon);
    });
}

/// Twin of `adadelta.wgsl`: `g += decay·w; a = ρa + (1-ρ)g²; u = g·√(d + ε) / √(a + ε); w -= rate·u;
/// d = ρd + (1-ρ)u²`.
/// `mean_square` is a, `mean_square_update` is d.
pub fn adadelta<T: Real>(update: &Update<T>, weights: &mut [T], [mean_square, mean_square_update]: [&mut [T]; 2]) {
    update.apply(weights, |i, weight, rate, gradient| {
        follow(&mut mean_square[i], update.decay, gradient * gradient);
        let root = (mean_square_update[i] + update.epsilon).sqrt();
        let change = gradient * root / (mean_square[i] + update.epsilon).sqrt();
        *weight -= rate * change;
        follow(&mut mean_square_update[i], update.decay, change * change);
    });
}

/// Twin of `adam.wgsl`: `g += decay·w; m = β₁m + (1-β₁)g; v = β₂v + (1-β₂)g²; w -= rate·m / (√v + ε)`, where the
/// rate contains the correction of the averages' bias.
/// `mean` is m, `mean_square` is v.
pub fn adam<T: Real>(update: &Update<T>, weights: &mut [T], [mean, mean_square]: [&mut [T]; 2]) {
    update.apply(weights, |i, weight, rate, gradient| {
        follow(&mut mean[i], update.decay, gradient);
        follow(&mut mean_square[i], update.second_decay, gradient * gradient);
        *weight -= rate * mean[i] / (mean_square[i].sqrt() + update.epsilon);
    });
}

/// Twin of `adamw.wgsl`: `w -= decay rate·decay·w`, then [`adam`] without a penalty.
pub fn adamw<T: Real>(update: &Update<T>, weights: &mut [T], states: [&mut [T]; 2]) {
    for (i, block) in update.moving() {
        weights[i] -= update.decay_rate * block.learning_rate * block.weight_decay * weights[i];
    }
    let unpenalized: Vec<_> = update.blocks.iter().map(|block| Block { weight_decay: T::ZERO, ..*block }).collect();
    adam(&Update { blocks: &unpenalized, ..*update }, weights, states);
}

/// Twin of `average.wgsl`: `s = keep·s + (1 - keep)·w`; `mode` is the step's: 0 nothing, 1 that, 2 and then `w = s`.
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

fn follow<T: Real>(average: &mut T, keep: T, value: T) {
    *average = keep * *average + (T::ONE - keep) * value;
}

/// Twin of `round_weights.wgsl`: `stored[i] = round(weights[i])`, where `round` rounds to the stored type.
/// Both slices: (elements). Returns whether all weights are numbers that can be stored; if not, the loss is not a
/// number.
pub fn round_weights<T: Real>(params: &RoundWeights, weights: &[T], stored: &mut [T], round: impl Fn(T) -> T) -> bool {
    let weights = &weights[..params.elements as usize];
    for (stored, &weight) in stored.iter_mut().zip(weights) {
        *stored = round(weight);
    }
    weights.iter().all(|weight| weight.to_f64().abs() <= f64::from(params.largest))
}
