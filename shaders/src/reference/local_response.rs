use super::epilogue::{apply_epilogue, store_gradient};
use crate::Real;
use crate::params::{LocalResponse, Step};

/// Twin of `local_response_forward.wgsl`: `y = epilogue(x / (bias + alpha·Σ x_j²)^beta)`, over neighbouring channels.
///
/// `x`, `y`: (B, P, C).
pub fn local_response_forward<T: Real>(params: &LocalResponse, step: &Step, x: &[T], y: &mut [T]) {
    let channels = params.stored_channels as usize;
    let beta = T::from_f64(f64::from(params.beta));
    let mut values = Vec::with_capacity(y.len());
    for pixel in x.chunks_exact(channels) {
        for (&x, denominator) in pixel.iter().zip(denominators(params, pixel)) {
            values.push(x / power(denominator, beta));
        }
    }
    for (at, (y, value)) in (0u32..).zip(y.iter_mut().zip(values)) {
        *y = apply_epilogue(value, at, &params.epilogue, step);
    }
}

/// Twin of `local_response_backward.wgsl`: the gradient of `x`, times `slope(x)`, where `epilogue` made `x`.
///
/// `dy`, `x`, `dx`: (B, P, C).
pub fn local_response_backward<T: Real>(params: &LocalResponse, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let channels = params.stored_channels as usize;
    let [alpha, beta] = [params.alpha, params.beta].map(|value| T::from_f64(f64::from(value)));
    let two = T::ONE + T::ONE;
    let mut sums = vec![T::ZERO; dx.len()];
    let pixels = dy.chunks_exact(channels).zip(x.chunks_exact(channels));
    for ((dy, x), sums) in pixels.zip(sums.chunks_exact_mut(channels)) {
        for (channel, denominator) in denominators(params, x).into_iter().enumerate() {
            sums[channel] += dy[channel] / power(denominator, beta);
            // d y_c / d x_j through the denominator of y_c.
            let shared = two * alpha * beta * dy[channel] * x[channel] / power(denominator, beta + T::ONE);
            for neighbour in neighbours(params, channel) {
                sums[neighbour] -= shared * x[neighbour];
            }
        }
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

/// Channels within the radius of `channel`.
fn neighbours(params: &LocalResponse, channel: usize) -> std::ops::Range<usize> {
    let radius = params.radius as usize;
    channel.saturating_sub(radius)..(channel + radius + 1).min(params.stored_channels as usize)
}

/// `bias + alpha·Σ x_j²` of every channel of a pixel.
fn denominators<T: Real>(params: &LocalResponse, pixel: &[T]) -> Vec<T> {
    let [bias, alpha] = [params.bias, params.alpha].map(|value| T::from_f64(f64::from(value)));
    let squares = |channel| -> T { pixel[neighbours(params, channel)].iter().map(|&x| x * x).sum() };
    (0..pixel.len()).map(|channel| bias + alpha * squares(channel)).collect()
}

/// `base^exponent` of a base above zero.
fn power<T: Real>(base: T, exponent: T) -> T {
    (exponent * base.ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::super::finite_differences::{assert_gradient, dot, numbers};
    use super::*;
    use crate::params::Epilogue;

    fn params(channels: u32) -> LocalResponse {
        LocalResponse {
            rows: 2,
            pixels: 3,
            stored_channels: channels,
            radius: 2,
            bias: 1.5,
            alpha: 0.3,
            beta: 0.75,
            reserved: 0,
            epilogue: Epilogue::default(),
        }
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let params = params(7);
        let (x, dy) = (numbers(42, 1), numbers(42, 2));
        let mut dx = vec![0.0; 42];
        local_response_backward(&params, &Step::default(), &dy, &x, &mut dx);
        assert_gradient(&x, &dx, |x| {
            let mut y = vec![0.0; 42];
            local_response_forward(&params, &Step::default(), x, &mut y);
            dot(&y, &dy)
        });
    }

    #[test]
    fn a_channel_is_divided_by_its_neighbours_within_the_radius_and_by_no_others() {
        let params = params(7);
        let mut x = vec![0.0; 42];
        (x[0], x[2], x[3]) = (1.0, 2.0, 3.0);
        let mut y = vec![0.0; 42];
        local_response_forward(&params, &Step::default(), &x, &mut y);
        let f = f64::from;
        let expected = 1.0 / (f(params.bias) + f(params.alpha) * (1.0 + 4.0)).powf(f(params.beta));
        assert!((y[0] - expected).abs() < 1e-14, "{} instead of {expected}", y[0]);
    }
}
