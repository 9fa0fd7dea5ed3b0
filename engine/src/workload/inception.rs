//! Szegedy et al. (2015), "Rethinking the Inception Architecture for Computer Vision": what TensorFlow's study of ImageNet
//! trained, here on generated images.

use super::imagenet::{CLASSES, on_images};
use super::{Workload, average_of_all, dense, max_pool};
use crate::model::{
    Activation, Initializer, KernelSize, Layer, Model, ModelBuilder, Multipliers, Padding, PoolKind, Rounding, Shape,
    Source, Weights,
};
use crate::training::{Optimizer, Rule, Schedule};

const INCEPTION_V3: &str = "inception-v3-synthetic";

pub(super) fn inception_v3() -> Workload {
    // Two epochs of ImageNet's 1,281,167 images in batches of 32.
    const EVERY: u64 = 80_072;
    /// The paper's is 0.045, with 50 replicas.
    const RATE: f64 = 0.045 / 50.0;
    Workload {
        name: INCEPTION_V3,
        title: "ImageNet's size, Inception-v3",
        description: "Inception-v3 of Szegedy et al. as in Keras: 299×299 pixels, 1,000 classes, convolutions of 1×7, 7×1, \
                      1×3 and 3×1 beside square ones, batch normalisation without a scale of its own, no auxiliary \
                      classifier; RMSprop with the paper's constants (ε outside of the root) and a fiftieth of its rate, \
                      which was for 50 replicas; L2 decay. Generated images of noise, 256 of them, so that only speed can be \
                      measured: it is in no suite and never ranked.",
        model: network(299, &[32, 64, 64], &[128, 160, 160, 192], 2),
        // A block of each kind; smaller images would end in a single pixel, of which a normalisation knows only the sign.
        reduced: Some(network(139, &[32], &[128], 1)),
        optimizer: Optimizer {
            schedule: Schedule::Staircase { every: EVERY, factor: 0.94 },
            weight_decay: 4e-5,
            ..Optimizer::new(Rule::RmsProp { rho: 0.9, epsilon: 1.0 }, RATE)
        },
        ..on_images("generated-images-299")
    }
}

/// Filters of a convolution, and the height and width of its kernel. Its image keeps its size.
type Convolution = (u32, [u32; 2]);

/// The parts of the network, front to back.
struct Inception {
    network: ModelBuilder,
}

/// For images of so many pixels a side; with a block for each number of filters behind the means, for each number of filters
/// in rows and columns of seven pixels, and so many wide blocks.
fn network(side: u32, behind_means: &[u32], of_seven: &[u32], wide: u32) -> Model {
    let mut inception = Inception { network: ModelBuilder::new(INCEPTION_V3, Shape::new(side, side, 3)) };
    inception.stem();
    for &pooled in behind_means {
        let branches: [&[Convolution]; 3] =
            [&[(64, [1, 1])], &[(48, [1, 1]), (64, [5, 5])], &[(64, [1, 1]), (96, [3, 3]), (96, [3, 3])]];
        inception.block(&branches, pooled);
    }
    inception.reduction([&[], &[(64, [1, 1]), (96, [3, 3])]], [384, 96]);
    for &filters in of_seven {
        let (row, column) = ((filters, [1, 7]), (filters, [7, 1]));
        let branches: [&[Convolution]; 3] = [
            &[(192, [1, 1])],
            &[(filters, [1, 1]), row, (192, [7, 1])],
            &[(filters, [1, 1]), column, row, column, (192, [1, 7])],
        ];
        inception.block(&branches, 192);
    }
    inception.reduction([&[(192, [1, 1])], &[(192, [1, 1]), (192, [1, 7]), (192, [7, 1])]], [320, 192]);
    for _ in 0..wide {
        inception.wide_block();
    }
    inception.finish()
}

impl Inception {
    /// A convolution without bias, normalised, behind `source`.
    fn convolution(&mut self, source: Source, (filters, [height, width]): Convolution, stride: u32, padding: Padding) {
        let weights = Weights::new(Initializer::FanInNormal { scale: 2.0 }).without_bias();
        let (size, activation) = (KernelSize::new(height, width), Activation::Identity);
        self.network.after(source, Layer::Conv2d { filters, size, stride, padding, activation, weights });
        self.network.then(Layer::BatchNorm {
            epsilon: 1e-3,
            keep: 0.99,
            trained_scale: false,
            bias: Multipliers::default(),
            activation: Activation::Relu,
        });
    }

    /// Convolutions one behind the other; what the last one makes.
    fn branch(&mut self, source: Source, convolutions: &[Convolution]) -> Source {
        convolutions.iter().fold(source, |source, &convolution| {
            self.convolution(source, convolution, 1, Padding::Same);
            self.network.last()
        })
    }

    /// The channels of all of them, one behind the other.
    fn concatenated(&mut self, branches: &[Source]) {
        let joined =
            branches.iter().copied().reduce(|all, next| self.network.reads(vec![all, next], Layer::Concatenate));
        assert!(joined.is_some_and(|joined| joined == self.network.last()), "two branches are joined, or more");
    }

    fn stem(&mut self) {
        self.convolution(Source::Data, (32, [3, 3]), 2, Padding::Valid);
        self.convolution(self.network.last(), (32, [3, 3]), 1, Padding::Valid);
        self.convolution(self.network.last(), (64, [3, 3]), 1, Padding::Same);
        self.network.then(max_pool(3, 2));
        self.convolution(self.network.last(), (80, [1, 1]), 1, Padding::Valid);
        self.convolution(self.network.last(), (192, [3, 3]), 1, Padding::Valid);
        self.network.then(max_pool(3, 2));
    }

    /// Branches that read the same, and one more of so many filters, of means of 3×3 pixels.
    fn block(&mut self, branches: &[&[Convolution]], pooled: u32) {
        let input = self.network.last();
        let mut made: Vec<Source> = branches.iter().map(|branch| self.branch(input, branch)).collect();
        made.push(self.means(input, pooled));
        self.concatenated(&made);
    }

    fn means(&mut self, input: Source, filters: u32) -> Source {
        let means = self.network.after(
            input,
            Layer::Pool {
                kind: PoolKind::Average,
                side: 3,
                stride: 1,
                padding: 1,
                rounding: Rounding::Floor,
                activation: Activation::Identity,
            },
        );
        self.branch(means, &[(filters, [1, 1])])
    }

    /// Half the pixels: two branches that end with a convolution of 3×3 and stride 2, of so many filters, and the largest of
    /// 3×3 pixels.
    fn reduction(&mut self, branches: [&[Convolution]; 2], filters: [u32; 2]) {
        let input = self.network.last();
        let mut made = Vec::new();
        for (branch, filters) in branches.into_iter().zip(filters) {
            let last = self.branch(input, branch);
            self.convolution(last, (filters, [3, 3]), 2, Padding::Valid);
            made.push(self.network.last());
        }
        made.push(self.network.after(input, max_pool(3, 2)));
        self.concatenated(&made);
    }

    /// A block whose larger branches end in a row and a column of three pixels, side by side.
    fn wide_block(&mut self) {
        let input = self.network.last();
        let mut made = vec![self.branch(input, &[(320, [1, 1])])];
        for branch in [&[(384, [1, 1])][..], &[(448, [1, 1]), (384, [3, 3])]] {
            let last = self.branch(input, branch);
            made.push(self.branch(last, &[(384, [1, 3])]));
            made.push(self.branch(last, &[(384, [3, 1])]));
        }
        made.push(self.means(input, 192));
        self.concatenated(&made);
    }

    fn finish(mut self) -> Model {
        let made = self.network.clone().finish();
        let shapes = made.shapes().expect("images are large enough");
        self.network.then(average_of_all(shapes.last().expect("there are layers").height));
        self.network.then(dense(CLASSES, Activation::Identity, Weights::new(Initializer::FanInUniform { scale: 1.0 })));
        self.network.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TensorKind;

    #[test]
    fn inception_v3_has_the_parameters_of_keras_and_the_operations_of_its_paper() {
        let model = inception_v3().model;
        let tensors = model.tensors().unwrap();
        let elements = |kind| tensors.iter().filter(|of| of.kind == kind).map(|of| of.elements()).sum::<usize>();
        // Keras counts running averages as well, and has no scales where they are fixed.
        let of_keras = elements(TensorKind::Trained) + elements(TensorKind::Statistic);
        assert_eq!((of_keras, elements(TensorKind::Statistic)), (23_851_784, 34_432));
        // Section 1 of the paper and the seeds say 5 billion, rounded down.
        let multiply_adds = model.operations().unwrap().forward_multiply_adds;
        assert_eq!(multiply_adds / 1_000_000_000, 5);
    }

    #[test]
    fn its_grids_are_those_of_the_paper() {
        let shapes = inception_v3().model.shapes().unwrap();
        // Table 1: what the blocks make, and the last of them.
        for grid in [Shape::new(35, 35, 288), Shape::new(17, 17, 768), Shape::new(8, 8, 1280), Shape::new(8, 8, 2048)] {
            assert!(shapes.contains(&grid), "{grid:?}");
        }
        assert_eq!(shapes.iter().rev().nth(2), Some(&Shape::new(8, 8, 2048)));
    }
}
