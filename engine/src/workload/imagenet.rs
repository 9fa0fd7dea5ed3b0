//! ImageNet-sized networks on noise images, for measuring speed only. The studies also used generated images.

use results::Goal;

use super::{Workload, average_of_all, batch_norm, dense, max_pool, pool, strided_convolution};
use crate::model::{
    Activation, Initializer, KernelSize, Layer, Model, Multipliers, Padding, PoolKind, Rounding, Shape, Source, Weights,
};
use crate::training::{InputRecipe, Normalization, Optimizer, Rule, Schedule};

pub(super) const CLASSES: u32 = 1000;
/// Mean and deviation of ImageNet's channels, in pixels / 255, as in Torch's examples.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];

/// ResNet-50: He et al. (2015), "Deep Residual Learning for Image Recognition", table 1, 50 layers.
pub(super) fn resnet50() -> Workload {
    Workload {
        title: "ImageNet's size, residual network of 50 layers",
        description: "ResNet-50 of He et al. in its first version: the first 1×1 convolution of a stage has the stride, and \
                      not the 3×3 one as in \"v1.5\". 224×224 pixels, 1,000 classes, batch normalization behind each \
                      convolution; SGD with momentum 0.9, L2 decay, and the paper's rate of 0.1 for 256 samples. Generated \
                      images of noise, 256 of them, so that only speed can be measured: it is in no suite and never ranked.",
        // One shape-changing block per stage, and one other. With twice as many, f16 rounding reaches the tolerance.
        reduced: Some(residual(96, [2, 1, 1, 1])),
        ..on_images("generated-images-224", residual(224, [3, 4, 6, 3]))
    }
}

/// Number of filters in the first two convolutions of each block, by stage.
const FILTERS: [u32; 4] = [64, 128, 256, 512];

/// Builds the network with `blocks` per stage for square images of `side` pixels, a multiple of 32.
fn residual(side: u32, blocks: [u32; 4]) -> Model {
    let mut network = Model::new("resnet50-synthetic", Shape::new(side, side, 3));
    normalized_convolution(&mut network, Source::Data, [64, 7, 2], Activation::Relu);
    let mut x = network.then(pool(PoolKind::Max, 3, 2, 1, Rounding::Floor));
    for (stage, (filters, blocks)) in FILTERS.into_iter().zip(blocks).enumerate() {
        for block in 0..blocks {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let narrow = normalized_convolution(&mut network, x, [filters, 1, stride], Activation::Relu);
            let narrow = normalized_convolution(&mut network, narrow, [filters, 3, 1], Activation::Relu);
            let residual = normalized_convolution(&mut network, narrow, [4 * filters, 1, 1], Activation::Identity);
            // The first block of each stage changes the shape.
            let shortcut = if block == 0 {
                normalized_convolution(&mut network, x, [4 * filters, 1, stride], Activation::Identity)
            } else {
                x
            };
            x = network.reads(vec![residual, shortcut], Layer::Add { activation: Activation::Relu });
        }
    }
    network.then(average_of_all(side / 32));
    network.then(dense(CLASSES, Activation::Identity, Weights::new(Initializer::FanInUniform { scale: 1.0 })));
    network
}

/// Adds a square convolution (filters, side, stride) without bias, padded for its side, and its batch normalization.
pub(super) fn normalized_convolution(
    network: &mut Model,
    source: Source,
    [filters, side, stride]: [u32; 3],
    activation: Activation,
) -> Source {
    let weights = Weights::new(Initializer::FanInNormal { scale: 2.0 }).without_bias();
    let padding = Padding::Zeros(side / 2);
    network.after(source, strided_convolution([filters, side, stride], padding, Activation::Identity, weights));
    network.then(batch_norm(activation))
}

/// Returns the common recipe of networks on generated images.
fn on_images(data_set: &'static str, model: Model) -> Workload {
    /// Learning rate of the paper, for batches of 256.
    const RATE: f64 = 0.1;
    const BATCH: u32 = 32;
    let optimizer = Optimizer {
        weight_decay: 1e-4,
        // Scaled linearly with the batch size: Goyal et al. (2017).
        ..Optimizer::new(Rule::Sgd { momentum: 0.9 }, RATE * f64::from(BATCH) / 256.0)
    };
    Workload {
        input: InputRecipe {
            normalization: Normalization::Channels { mean: MEAN, deviation: DEVIATION },
            ..InputRecipe::scaled(255.0)
        },
        batch_size: BATCH,
        published_epochs: 90,
        // Noise cannot be classified.
        target: Goal::Accuracy(1.0),
        evaluations_per_epoch: 1,
        ..Workload::recipe(data_set, model, optimizer)
    }
}

pub(super) fn inception_v3() -> Workload {
    // Two epochs of ImageNet's 1,281,167 images in batches of 32.
    const EVERY: u64 = 80_072;
    /// The paper's rate of 0.045, divided by its 50 replicas.
    const RATE: f64 = 0.045 / 50.0;
    Workload {
        title: "ImageNet's size, Inception-v3",
        description: "Inception-v3 of Szegedy et al. as in Keras: 299×299 pixels, 1,000 classes, convolutions of 1×7, 7×1, \
                      1×3, 3×1 and square ones, batch normalization without its own scale, no auxiliary \
                      classifier; RMSprop with the paper's constants (ε outside of the root) and a fiftieth of its rate, \
                      which was for 50 replicas; L2 decay. Generated images of noise, 256 of them, so that only speed can be \
                      measured: it is in no suite and never ranked.",
        // One block of each kind. Normalization would reduce a single pixel of smaller images to its sign.
        reduced: Some(inception(139, &[32], &[128], 1)),
        optimizer: Optimizer {
            schedule: Schedule::Staircase { every: EVERY, factor: 0.94 },
            weight_decay: 4e-5,
            ..Optimizer::new(Rule::RmsProp { rho: 0.9, epsilon: 1.0 }, RATE)
        },
        ..on_images("generated-images-299", inception(299, &[32, 64, 64], &[128, 160, 160, 192], 2))
    }
}

/// Number of filters, and height and width of the kernel.
type Convolution = (u32, [u32; 2]);

/// Builds Inception-v3 for square images of `side` pixels: Szegedy et al. (2015), "Rethinking the Inception
/// Architecture for Computer Vision".
///
/// Each item of `pooled_filters` adds a block with this number of filters after average pooling. Each item of
/// `filters_7x1` adds a block with this number of filters in 1×7 and 7×1 convolutions. `wide` blocks follow.
fn inception(side: u32, pooled_filters: &[u32], filters_7x1: &[u32], wide: u32) -> Model {
    let mut network = Model::new("inception-v3-synthetic", Shape::new(side, side, 3));
    stem(&mut network);
    for &pooled in pooled_filters {
        let branches: [&[Convolution]; 3] =
            [&[(64, [1, 1])], &[(48, [1, 1]), (64, [5, 5])], &[(64, [1, 1]), (96, [3, 3]), (96, [3, 3])]];
        block(&mut network, &branches, pooled);
    }
    reduction(&mut network, [&[], &[(64, [1, 1]), (96, [3, 3])]], [384, 96]);
    for &filters in filters_7x1 {
        let (row, column) = ((filters, [1, 7]), (filters, [7, 1]));
        let branches: [&[Convolution]; 3] = [
            &[(192, [1, 1])],
            &[(filters, [1, 1]), row, (192, [7, 1])],
            &[(filters, [1, 1]), column, row, column, (192, [1, 7])],
        ];
        block(&mut network, &branches, 192);
    }
    reduction(&mut network, [&[(192, [1, 1])], &[(192, [1, 1]), (192, [1, 7]), (192, [7, 1])]], [320, 192]);
    for _ in 0..wide {
        wide_block(&mut network);
    }
    let shapes = network.shapes().expect("images are large enough");
    network.then(average_of_all(shapes.last().expect("there are layers").height));
    network.then(dense(CLASSES, Activation::Identity, Weights::new(Initializer::FanInUniform { scale: 1.0 })));
    network
}

/// Adds a convolution and its batch normalization.
fn inception_convolution(
    network: &mut Model,
    source: Source,
    (filters, [height, width]): Convolution,
    stride: u32,
    padding: Padding,
) -> Source {
    let weights = Weights::new(Initializer::FanInNormal { scale: 2.0 }).without_bias();
    let (size, activation) = (KernelSize::new(height, width), Activation::Identity);
    network.after(source, Layer::Conv2d { filters, size, stride, padding, activation, weights });
    let (bias, activation) = (Multipliers::default(), Activation::Relu);
    network.then(Layer::BatchNorm { epsilon: 1e-3, keep: 0.99, trained_scale: false, bias, activation })
}

fn branch(network: &mut Model, source: Source, convolutions: &[Convolution]) -> Source {
    convolutions.iter().fold(source, |source, &of| inception_convolution(network, source, of, 1, Padding::Same))
}

fn concatenate(network: &mut Model, branches: Vec<Source>) {
    let joined = branches.into_iter().reduce(|all, next| network.reads(vec![all, next], Layer::Concatenate));
    assert!(joined.is_some_and(|joined| joined == network.last()), "at least two branches are joined");
}

fn stem(network: &mut Model) {
    let x = inception_convolution(network, Source::Data, (32, [3, 3]), 2, Padding::Valid);
    let x = inception_convolution(network, x, (32, [3, 3]), 1, Padding::Valid);
    inception_convolution(network, x, (64, [3, 3]), 1, Padding::Same);
    let x = network.then(max_pool(3, 2));
    let x = inception_convolution(network, x, (80, [1, 1]), 1, Padding::Valid);
    inception_convolution(network, x, (192, [3, 3]), 1, Padding::Valid);
    network.then(max_pool(3, 2));
}

/// Adds parallel branches, and one with 3×3 average pooling and `pooled` filters.
fn block(network: &mut Model, branches: &[&[Convolution]], pooled: u32) {
    let input = network.last();
    let mut made: Vec<Source> = branches.iter().map(|of| branch(network, input, of)).collect();
    made.push(means(network, input, pooled));
    concatenate(network, made);
}

fn means(network: &mut Model, input: Source, filters: u32) -> Source {
    let means = network.after(input, pool(PoolKind::Average, 3, 1, 1, Rounding::Floor));
    branch(network, means, &[(filters, [1, 1])])
}

/// Halves the image with two branches that end in a 3×3 convolution of stride 2, and a branch with 3×3 max pooling.
fn reduction(network: &mut Model, branches: [&[Convolution]; 2], filters: [u32; 2]) {
    let input = network.last();
    let mut made = Vec::new();
    for (of, filters) in branches.into_iter().zip(filters) {
        let last = branch(network, input, of);
        made.push(inception_convolution(network, last, (filters, [3, 3]), 2, Padding::Valid));
    }
    made.push(network.after(input, max_pool(3, 2)));
    concatenate(network, made);
}

/// Adds a block whose larger branches end in parallel 1×3 and 3×1 convolutions.
fn wide_block(network: &mut Model) {
    let input = network.last();
    let mut made = vec![branch(network, input, &[(320, [1, 1])])];
    for of in [&[(384, [1, 1])][..], &[(448, [1, 1]), (384, [3, 3])]] {
        let last = branch(network, input, of);
        made.push(branch(network, last, &[(384, [1, 3])]));
        made.push(branch(network, last, &[(384, [3, 1])]));
    }
    made.push(means(network, input, 192));
    concatenate(network, made);
}
