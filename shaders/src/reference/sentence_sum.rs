use super::epilogue::{apply_epilogue, store_gradient};
use crate::Real;
use crate::params::{SentenceSum, Step};

/// Twin of `sentence_sum_forward.wgsl`: `y[k] = Σ weight(j, k)·x[j, k]` over the words j of each sentence.
///
/// `x`: (S, J, C); `y`: (S, C).
pub fn sentence_sum_forward<T: Real>(params: &SentenceSum, step: &Step, x: &[T], y: &mut [T]) {
    let (words, stored) = (params.words as usize, params.stored_channels as usize);
    for (sentence, y) in y.chunks_exact_mut(stored).enumerate() {
        y.fill(T::ZERO);
        for (word, x) in x[sentence * words * stored..].chunks_exact(stored).take(words).enumerate() {
            for (channel, (y, &x)) in y.iter_mut().zip(x).enumerate() {
                *y += weight::<T>(params, word, channel) * x;
            }
        }
    }
    for (at, y) in (0u32..).zip(y) {
        *y = apply_epilogue(*y, at, &params.epilogue, step);
    }
}

/// Twin of `sentence_sum_gradient.wgsl`: `dx[j, k] = weight(j, k)·dy[k] ⊙ slope(x[j, k])`.
///
/// `dy`: (S, C); `x`, `dx`: (S, J, C).
pub fn sentence_sum_gradient<T: Real>(params: &SentenceSum, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let (words, stored) = (params.words as usize, params.stored_channels as usize);
    let gradient = |at: usize| {
        let (token, channel) = (at / stored, at % stored);
        weight::<T>(params, token % words, channel) * dy[token / words * stored + channel]
    };
    let gradients: Vec<T> = (0..dx.len()).map(gradient).collect();
    store_gradient(&gradients, x, &params.epilogue, step, dx);
}

/// The position encoding of Sukhbaatar et al. (2015), section 4.1, for word j and value k, both counted from 1:
/// `(1 - j/J) - (k/d)·(1 - 2j/J)`.
fn weight<T: Real>(params: &SentenceSum, word: usize, channel: usize) -> T {
    let real = |number: usize| T::from_f64(number as f64);
    let place = real(word + 1) / real(params.words as usize);
    let height = real(channel + 1) / real(params.channels as usize);
    (T::ONE - place) - height * (T::ONE - place - place)
}

#[cfg(test)]
mod tests {
    use super::super::finite_differences::{assert_gradient, dot, numbers};
    use super::*;
    use crate::params::Epilogue;

    fn params() -> SentenceSum {
        SentenceSum { sentences: 3, words: 4, channels: 5, stored_channels: 5, epilogue: Epilogue::default() }
    }

    #[test]
    fn early_words_weigh_on_early_values_and_late_ones_on_late_values() {
        let weight = |word, channel| weight::<f64>(&params(), word, channel);
        assert!((weight(0, 0) - (0.75 - 0.2 * 0.5)).abs() < 1e-12);
        assert!((weight(3, 4) - 1.0).abs() < 1e-12);
        assert!(weight(0, 0) > weight(0, 4) && weight(3, 4) > weight(3, 0));
        // In the middle, all count the same.
        assert!((0..5).all(|channel| (weight(1, channel) - 0.5).abs() < 1e-12));
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let (x, dy) = (numbers(60, 1), numbers(15, 2));
        let loss = |x: &[f64]| {
            let mut y = vec![0.0; 15];
            sentence_sum_forward(&params(), &Step::default(), x, &mut y);
            dot(&y, &dy)
        };
        let mut dx = vec![0.0; 60];
        sentence_sum_gradient(&params(), &Step::default(), &dy, &x, &mut dx);
        assert_gradient(&x, &dx, loss);
    }
}
