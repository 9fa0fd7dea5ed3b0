use super::epilogue::{apply_epilogue, store_gradient};
use crate::Real;
use crate::params::{Step, Transpose};

/// Twin of `transpose_forward.wgsl`: `y[b, q, p] = x[b, p, q]`, pixels become channels and channels pixels.
///
/// `x`: (B, P, stored channels); `y`: (B, Q, stored pixels); padding is zero.
pub fn transpose_forward<T: Real>(params: &Transpose, step: &Step, x: &[T], y: &mut [T]) {
    y.fill(T::ZERO);
    for (at, from) in places(params) {
        y[from] = x[at];
    }
    for (at, y) in (0u32..).zip(y) {
        *y = apply_epilogue(*y, at, &params.epilogue, step);
    }
}

/// Twin of `transpose_gradient.wgsl`: `dx[b, p, q] = dy[b, q, p] ⊙ slope(x[b, p, q])`.
///
/// `dy`: (B, Q, stored pixels); `x`, `dx`: (B, P, stored channels).
pub fn transpose_gradient<T: Real>(params: &Transpose, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let mut gradients = vec![T::ZERO; dx.len()];
    for (at, from) in places(params) {
        gradients[at] = dy[from];
    }
    store_gradient(&gradients, x, &params.epilogue, step, dx);
}

/// Where each value lies in the input, and where in the output.
fn places(params: &Transpose) -> impl Iterator<Item = (usize, usize)> {
    let &Transpose { rows, pixels, channels, stored_channels, stored_pixels, .. } = params;
    (0..rows).flat_map(move |row| {
        (0..pixels).flat_map(move |p| {
            (0..channels).map(move |q| {
                let (input, output) =
                    ((row * pixels + p) * stored_channels + q, (row * channels + q) * stored_pixels + p);
                (input as usize, output as usize)
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Epilogue;

    #[test]
    fn rows_become_columns_and_gradients_find_their_way_back() {
        let params = Transpose {
            rows: 2,
            pixels: 2,
            channels: 3,
            stored_channels: 4,
            stored_pixels: 2,
            reserved: [0; 3],
            epilogue: Epilogue::default(),
        };
        let x = [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0, 7.0, 8.0, 9.0, 0.0, 10.0, 11.0, 12.0, 0.0];
        let (mut y, mut back) = ([9.0; 12], [9.0; 16]);
        transpose_forward(&params, &Step::default(), &x, &mut y);
        assert_eq!(y, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0, 7.0, 10.0, 8.0, 11.0, 9.0, 12.0]);
        transpose_gradient(&params, &Step::default(), &y, &x, &mut back);
        assert_eq!(back, x);
    }
}
