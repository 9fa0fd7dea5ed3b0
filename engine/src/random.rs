//! Random numbers as a function of (index, stream, step, seed).

use shaders::params::{Shuffle, Step};
use shaders::reference::pcg4d::{pcg4d, uniform};
use shaders::reference::shuffle;

/// Numbers of independent streams. `reference/golden/README.md` defines the first two.
pub mod stream {
    /// Weights of tensor `t` use stream `t`.
    pub const WEIGHTS: u32 = 0;
    /// Dropout layer `d` uses stream `1000 + d`.
    pub const DROPOUT: u32 = 1000;
    /// Sample order of an epoch; the step is the epoch. Uses this stream and the next seven.
    pub const SHUFFLE: u32 = 2000;
    /// Selection of final weights for the record.
    pub const EVIDENCE: u32 = 3000;
    /// Mirroring and shifting of training images. Uses this stream and the next.
    pub const AUGMENTATION: u32 = 5000;
    /// Brightness and contrast of training images.
    pub const LIGHT: u32 = 5002;
    /// Order of the workloads of a run. Uses this stream and the next seven.
    pub const SUITE_ORDER: u32 = 4000;
    /// Generated stories of task `t` use stream `6000 + 2t` for training and the next for tests; the step is the story.
    pub const STORIES: u32 = 6000;
    /// Generated images: pixels of both splits, then classes of both.
    pub const IMAGES: u32 = 6500;
    /// Order of samples that are repeated to fill a batch. Uses this stream and the next seven.
    pub const REPEATED: u32 = 7000;
    /// First characters of an epoch's windows; the step is the epoch.
    pub const WINDOWS: u32 = 9000;
    /// Characters of a text that a language model writes; the step is the character's number.
    pub const TEXT: u32 = 9500;
    /// Position about which a segment mirrors the sample order; the step is the segment's first.
    pub const SEGMENT: u32 = 8000;
}

#[derive(Clone, Copy, Debug)]
pub struct Generator {
    pub stream: u32,
    pub step: u32,
    pub seed: u32,
}

impl Generator {
    /// Returns a uniform value in [0, 1), a multiple of 2⁻²⁴.
    pub fn uniform(self, index: u32) -> f64 {
        f64::from(uniform(index, self.stream, self.step, self.seed))
    }

    /// Returns a uniform integer in `0..bound`. The bias of at most `bound`·2⁻³² is accepted.
    pub fn below(self, index: u32, bound: u32) -> u32 {
        let [x, ..] = pcg4d([index, self.stream, self.step, self.seed]);
        ((u64::from(x) * u64::from(bound)) >> 32) as u32
    }

    /// Returns a random order of `0..length`, from this stream and the next seven.
    pub fn permutation(self, length: u32) -> Vec<u32> {
        let mut order = vec![0; length as usize];
        let params = Shuffle { samples: length, first: 0, stream: self.stream, reserved: 0 };
        shuffle(&params, &Step { epoch: self.step, seed: self.seed, ..Step::default() }, &mut order);
        order
    }
}
