use super::epilogue::{apply_epilogue, store_gradient};
use crate::Real;
use crate::params::{Concatenate, Step};

/// Twin of `concatenate_forward.wgsl`: `y[p] = (a[p], b[p])`, the channels of both, one behind the other.
///
/// `a`: (P, stored first); `b`: (P, stored second); `y`: (P, stored channels); padding is zero.
pub fn concatenate_forward<T: Real>(params: &Concatenate, step: &Step, a: &[T], b: &[T], y: &mut [T]) {
    let (first, second) = (params.first as usize, params.second as usize);
    let (stored_first, stored_second) = (params.stored_first as usize, params.stored_second as usize);
    y.fill(T::ZERO);
    let inputs = a.chunks_exact(stored_first).zip(b.chunks_exact(stored_second));
    for (y, (a, b)) in y.chunks_exact_mut(params.stored_channels as usize).zip(inputs) {
        y[..first].copy_from_slice(&a[..first]);
        y[first..first + second].copy_from_slice(&b[..second]);
    }
    for (at, y) in (0u32..).zip(y) {
        *y = apply_epilogue(*y, at, &params.epilogue, step);
    }
}

/// Twin of `concatenate_gradient.wgsl`: the part of `dy` that belongs to the input `x`, `⊙ slope(x)`.
///
/// `dy`: (P, stored channels); `x`, `dx`: of the input's shape, the first or the second.
pub fn concatenate_gradient<T: Real>(params: &Concatenate, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let (from, channels, stored) = if params.of_second == 1 {
        (params.first, params.second, params.stored_second)
    } else {
        (0, params.first, params.stored_first)
    };
    let [from, channels, stored] = [from, channels, stored].map(|number| number as usize);
    let mut gradients = vec![T::ZERO; dx.len()];
    let pixels = dy.chunks_exact(params.stored_channels as usize);
    for (gradients, dy) in gradients.chunks_exact_mut(stored).zip(pixels) {
        gradients[..channels].copy_from_slice(&dy[from..from + channels]);
    }
    store_gradient(&gradients, x, &params.epilogue, step, dx);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Epilogue;

    #[test]
    fn channels_lie_behind_each_other_and_gradients_find_their_way_back() {
        let params = Concatenate {
            pixels: 2,
            first: 1,
            second: 2,
            stored_first: 2,
            stored_second: 2,
            stored_channels: 4,
            of_second: 0,
            reserved: 0,
            epilogue: Epilogue::default(),
        };
        let step = Step::default();
        let (a, b) = ([1.0, 0.0, 2.0, 0.0], [3.0, 4.0, 5.0, 6.0]);
        let (mut y, mut da, mut db) = ([9.0; 8], [9.0; 4], [9.0; 4]);
        concatenate_forward(&params, &step, &a, &b, &mut y);
        assert_eq!(y, [1.0, 3.0, 4.0, 0.0, 2.0, 5.0, 6.0, 0.0]);
        concatenate_gradient(&params, &step, &y, &a, &mut da);
        concatenate_gradient(&Concatenate { of_second: 1, ..params }, &step, &y, &b, &mut db);
        assert_eq!((da, db), (a, b));
    }
}
