use super::dot::dot;
use super::epilogue::{apply_epilogue, store_gradient};
use crate::Real;
use crate::params::{PixelProducts, Step};

/// Twin of `pixel_products_forward.wgsl`: `y[b, p, q] = Σ a[b, p, c]·b[b, q, c]`, each pixel of `a` with each of `b`.
///
/// `a`: (B, P, C); `b`: (B, Q, C); `y`: (B, P, stored products).
pub fn pixel_products_forward<T: Real>(params: &PixelProducts, step: &Step, a: &[T], b: &[T], y: &mut [T]) {
    let sizes = Sizes::new(params);
    let stored = params.stored_products as usize;
    y.fill(T::ZERO);
    for (pixel, y) in y.chunks_exact_mut(stored).enumerate() {
        let a = &a[pixel * sizes.channels..][..sizes.channels];
        for (q, y) in y.iter_mut().take(sizes.second).enumerate() {
            *y = dot(a, &b[(pixel / sizes.first * sizes.second + q) * sizes.channels..][..sizes.channels]);
        }
    }
    for (at, y) in (0u32..).zip(y) {
        *y = apply_epilogue(*y, at, &params.epilogue, step);
    }
}

/// Twin of `pixel_products_gradient.wgsl`: the gradient of the factor `x`, which is the first,
/// `dx[b, p] = Σ dy[b, p, q]·other[b, q]`, or the second, `dx[b, q] = Σ dy[b, p, q]·other[b, p]`.
///
/// `dy`: (B, P, stored products); `other`: the other factor; `x`, `dx`: of the factor's shape.
pub fn pixel_products_gradient<T: Real>(
    params: &PixelProducts,
    step: &Step,
    dy: &[T],
    other: &[T],
    x: &[T],
    dx: &mut [T],
) {
    let Sizes { first, second, channels } = Sizes::new(params);
    let mut sums = vec![T::ZERO; dx.len()];
    for (at, &dy) in dy.iter().enumerate() {
        let (pixel, q) = (at / params.stored_products as usize, at % params.stored_products as usize);
        if q >= second {
            continue;
        }
        let q = pixel / first * second + q;
        let (x, other_pixel) = if params.of_second == 1 { (q, pixel) } else { (pixel, q) };
        for (sum, &other) in sums[x * channels..][..channels].iter_mut().zip(&other[other_pixel * channels..]) {
            *sum += dy * other;
        }
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

struct Sizes {
    first: usize,
    second: usize,
    channels: usize,
}

impl Sizes {
    fn new(params: &PixelProducts) -> Self {
        Self {
            first: params.first_pixels as usize,
            second: params.second_pixels as usize,
            channels: params.channels as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finite_differences::{assert_gradient, dot as loss_of, numbers};
    use super::*;
    use crate::params::Epilogue;

    #[test]
    fn the_gradients_are_those_of_finite_differences() {
        let params = PixelProducts {
            rows: 2,
            first_pixels: 3,
            second_pixels: 4,
            channels: 5,
            stored_products: 4,
            of_second: 0,
            reserved: [0; 2],
            epilogue: Epilogue::default(),
        };
        let step = Step::default();
        let (a, b, dy) = (numbers(30, 1), numbers(40, 2), numbers(24, 3));
        let loss = |a: &[f64], b: &[f64]| {
            let mut y = vec![0.0; 24];
            pixel_products_forward(&params, &step, a, b, &mut y);
            loss_of(&y, &dy)
        };
        let (mut da, mut db) = (vec![0.0; 30], vec![0.0; 40]);
        pixel_products_gradient(&params, &step, &dy, &b, &a, &mut da);
        pixel_products_gradient(&PixelProducts { of_second: 1, ..params }, &step, &dy, &a, &b, &mut db);
        assert_gradient(&a, &da, |a| loss(a, &b));
        assert_gradient(&b, &db, |b| loss(&a, b));
    }
}
