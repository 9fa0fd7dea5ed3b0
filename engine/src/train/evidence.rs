use results::WeightSample;

use crate::random::{Generator, stream};

/// So many weights of each tensor go into the record.
const SAMPLES_PER_TENSOR: u32 = 4;

/// A few final weights; the seed decides which, so nobody can choose them.
pub(super) fn choose(weights: &[Vec<f32>], seed: u32) -> Vec<WeightSample> {
    let mut samples = Vec::new();
    for (tensor, values) in (0..).zip(weights) {
        let length = u32::try_from(values.len()).expect("a tensor has fewer than 2^32 elements");
        let generator = Generator { stream: stream::EVIDENCE + tensor, step: 0, seed };
        for i in 0..SAMPLES_PER_TENSOR.min(length) {
            let index = generator.below(i, length);
            samples.push(WeightSample { tensor, index, value: values[index as usize] });
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides_which_weights_are_kept() {
        let weights = vec![(0..1000u16).map(f32::from).collect::<Vec<_>>(), vec![1.0, 2.0]];
        let first = choose(&weights, 1);
        assert_eq!(first.len(), 6);
        assert_eq!(first, choose(&weights, 1));
        assert_ne!(first, choose(&weights, 2));
        assert!(first.iter().all(|s| weights[s.tensor as usize][s.index as usize] == s.value));
    }
}
