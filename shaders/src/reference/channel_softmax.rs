use super::epilogue::{apply_epilogue, store_gradient};
use crate::Real;
use crate::params::{ChannelSoftmax, Step};

/// Twin of `channel_softmax_forward.wgsl`: `y = exp(x) / Σ exp(x)` over the channels of each pixel, or `x` itself while
/// the step is linear and the layer starts so.
///
/// `x`, `y`: (P, C); padding stays zero.
pub fn channel_softmax_forward<T: Real>(params: &ChannelSoftmax, step: &Step, x: &[T], y: &mut [T]) {
    let (channels, stored) = (params.channels as usize, params.stored_channels as usize);
    y.fill(T::ZERO);
    for (x, y) in x.chunks_exact(stored).zip(y.chunks_exact_mut(stored)) {
        let (x, y) = (&x[..channels], &mut y[..channels]);
        y.copy_from_slice(x);
        if !is_linear(params, step) {
            to_shares(y);
        }
    }
    for (at, y) in (0u32..).zip(y) {
        *y = apply_epilogue(*y, at, &params.epilogue, step);
    }
}

/// Twin of `channel_softmax_backward.wgsl`: `dx = y ⊙ (dy - Σ dy·y) ⊙ slope(x)` where `y = exp(x) / Σ exp(x)`, or
/// `dy ⊙ slope(x)` while the step is linear.
///
/// `dy`, `x`, `dx`: (P, C).
pub fn channel_softmax_backward<T: Real>(params: &ChannelSoftmax, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let (channels, stored) = (params.channels as usize, params.stored_channels as usize);
    let mut gradients = dy.to_vec();
    if !is_linear(params, step) {
        for (gradients, x) in gradients.chunks_exact_mut(stored).zip(x.chunks_exact(stored)) {
            let mut y = x[..channels].to_vec();
            to_shares(&mut y);
            let shared: T = gradients.iter().zip(&y).map(|(&dy, &y)| dy * y).sum();
            gradients.iter_mut().zip(&y).for_each(|(gradient, &y)| *gradient = y * (*gradient - shared));
        }
    }
    store_gradient(&gradients, x, &params.epilogue, step, dx);
}

/// The softmax of some numbers, in their place.
fn to_shares<T: Real>(numbers: &mut [T]) {
    let largest = numbers.iter().copied().fold(numbers[0], T::maximum);
    numbers.iter_mut().for_each(|number| *number = (*number - largest).exp());
    let sum: T = numbers.iter().copied().sum();
    numbers.iter_mut().for_each(|number| *number = *number / sum);
}

fn is_linear(params: &ChannelSoftmax, step: &Step) -> bool {
    params.linear_start == 1 && step.linear == 1
}

#[cfg(test)]
mod tests {
    use super::super::finite_differences::{assert_gradient, dot, numbers};
    use super::*;
    use crate::params::Epilogue;

    #[test]
    fn the_gradients_are_those_of_finite_differences_in_linear_steps_and_in_others() {
        let params = ChannelSoftmax {
            pixels: 3,
            channels: 5,
            stored_channels: 5,
            linear_start: 1,
            epilogue: Epilogue::default(),
        };
        let (x, dy) = (numbers(15, 1), numbers(15, 2));
        for linear in [0, 1] {
            let step = Step { linear, ..Step::default() };
            let made = |x: &[f64]| {
                let mut y = vec![0.0; 15];
                channel_softmax_forward(&params, &step, x, &mut y);
                y
            };
            let mut dx = vec![0.0; 15];
            channel_softmax_backward(&params, &step, &dy, &x, &mut dx);
            assert_gradient(&x, &dx, |x| dot(&made(x), &dy));
            let sums_to_one = made(&x).chunks(5).all(|y| (y.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert_eq!(sums_to_one, linear == 0);
            assert_eq!(made(&x) == x, linear == 1);
        }
    }
}
