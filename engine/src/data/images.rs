//! Images of ImageNet's sizes and number of classes that show nothing: noise, for networks whose speed is of interest and
//! not what they learn. The studies' benchmarks of such networks train on generated images too.

use serde::Serialize;
use shaders::reference::pcg4d::pcg4d;

use super::Split;
use crate::random::{Generator, stream};

/// Everybody sees the same images.
const SEED: u32 = 1;
/// Few, so that they take little memory: each epoch repeats them.
pub(super) const TRAINING_IMAGES: u32 = 256;
pub(super) const TEST_IMAGES: u32 = 32;
pub(super) const CHANNELS: u32 = 3;
/// As many as ImageNet's challenge has.
pub(super) const CLASSES: u32 = 1000;

/// Square colour images of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GeneratedImages {
    /// Pixels of a row, and rows.
    pub side: u32,
}

impl GeneratedImages {
    /// Every set: what residual networks read, and what Inception-v3 reads.
    pub const ALL: [Self; 2] = [Self { side: 224 }, Self { side: 299 }];

    pub fn name(self) -> String {
        format!("generated-images-{}", self.side)
    }
}

/// Training and test half: uniform bytes, and uniform classes that have nothing to do with them.
pub(super) fn generated(set: GeneratedImages) -> [Split; 2] {
    [(0, TRAINING_IMAGES), (1, TEST_IMAGES)].map(|(half, samples)| {
        let features = set.side * set.side * CHANNELS;
        let labels = Generator { stream: stream::IMAGES + 2 + half, step: set.side, seed: SEED };
        let label = |sample| u16::try_from(labels.below(sample, CLASSES)).expect("a thousand classes");
        Split {
            images: bytes(stream::IMAGES + half, set.side, samples * features),
            labels: (0..samples).map(label).collect(),
        }
    })
}

/// So many random bytes, sixteen from each call of the generator.
fn bytes(stream: u32, step: u32, count: u32) -> Vec<u8> {
    let sixteen = |index| pcg4d([index, stream, step, SEED]).into_iter().flat_map(u32::to_le_bytes);
    (0..count.div_ceil(16)).flat_map(sixteen).take(count as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DataSet, data_set};

    #[test]
    fn generated_images_have_the_shape_of_their_definition_and_are_the_same_each_time() {
        for set in GeneratedImages::ALL {
            let definition = data_set(&set.name()).unwrap();
            let data = DataSet::generated(definition).unwrap();
            assert!(data.generated, "a record must say so");
            for (half, expected) in [(&data.train, definition.train), (&data.test, definition.test)] {
                assert_eq!(half.samples(), expected.samples);
                assert_eq!(half.images.len(), expected.samples as usize * expected.features() as usize);
                assert!(half.labels.iter().all(|&label| u32::from(label) < expected.classes));
            }
            assert_eq!(DataSet::generated(definition).unwrap().train, data.train);
        }
    }

    #[test]
    fn pixels_are_spread_evenly_and_classes_go_beyond_a_byte() {
        let [train, test] = generated(GeneratedImages { side: 224 });
        let mean = train.images.iter().map(|&byte| f64::from(byte)).sum::<f64>() / train.images.len() as f64;
        assert!((mean - 127.5).abs() < 0.1, "{mean}");
        assert!(train.labels.iter().any(|&label| label > 900) && train.labels.iter().any(|&label| label < 100));
        assert_ne!(train.images[..100], test.images[..100], "the test half has images of its own");
    }
}
