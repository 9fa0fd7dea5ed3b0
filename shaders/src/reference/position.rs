use super::epilogue::{apply_epilogue, store_gradient};
use crate::Real;
use crate::params::{Elementwise, Position, Step};

/// Twin of `position_forward.wgsl`: `y = epilogue(x + e)`, the same `e` for every row.
///
/// `x`, `y`: (B, V); `embedding`: (V).
pub fn position_forward<T: Real>(params: &Position, step: &Step, x: &[T], embedding: &[T], y: &mut [T]) {
    let embeddings = embedding.iter().cycle();
    for (at, (y, (&x, &embedding))) in (0u32..).zip(y.iter_mut().zip(x.iter().zip(embeddings))) {
        *y = apply_epilogue(x + embedding, at, &params.epilogue, step);
    }
}

/// Twin of `position_gradient.wgsl`: `de = Σ dy`, summed in parts of the batch.
///
/// `dy`: (B, V); `parts`: (parts, part stride), each de (V).
pub fn position_gradient<T: Real>(params: &Position, dy: &[T], parts: &mut [T]) {
    parts.fill(T::ZERO);
    for (row, dy) in dy.chunks_exact(params.values as usize).enumerate() {
        let part = row / params.rows_per_part as usize;
        for (sum, &dy) in parts[part * params.part_stride as usize..].iter_mut().zip(dy) {
            *sum += dy;
        }
    }
}

/// Twin of `pass_gradient.wgsl`: `dx = dy ⊙ slope(x)`, where `epilogue` made `x`.
///
/// `dy`, `x`, `dx`: (elements).
pub fn pass_gradient<T: Real>(params: &Elementwise, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    store_gradient(dy, x, &params.epilogue, step, dx);
}

#[cfg(test)]
mod tests {
    use super::super::finite_differences::{assert_gradient, dot, numbers};
    use super::super::sum_parts;
    use super::*;
    use crate::params::{Epilogue, SumParts};

    #[test]
    fn the_gradients_are_those_of_finite_differences() {
        let epilogue = Epilogue::default();
        let params = Position { rows: 5, values: 6, rows_per_part: 2, part_stride: 7, epilogue };
        let elementwise = Elementwise { elements: 30, reserved: [0; 3], epilogue };
        let (x, embedding, dy) = (numbers(30, 1), numbers(6, 2), numbers(30, 3));
        let loss = |x: &[f64], embedding: &[f64]| {
            let mut y = vec![0.0; 30];
            position_forward(&params, &Step::default(), x, embedding, &mut y);
            dot(&y, &dy)
        };
        let (mut parts, mut sum, mut dx) = (vec![0.0; 21], vec![0.0; 7], vec![0.0; 30]);
        position_gradient(&params, &dy, &mut parts);
        sum_parts(&SumParts { elements: 7, parts: 3, accumulate: 0, reserved: 0 }, &parts, &mut sum);
        pass_gradient(&elementwise, &Step::default(), &dy, &x, &mut dx);
        assert_gradient(&embedding, &sum[..6], |embedding| loss(&x, embedding));
        assert_gradient(&x, &dx, |x| loss(x, &embedding));
    }
}
