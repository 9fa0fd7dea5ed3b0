//! Networks of ImageNet's size, on images that show nothing: how fast they train is of interest, and not what they learn.
//! The studies measured such networks on generated images, too.

use super::{Workload, average_of_all, batch_norm, dense};
use crate::model::{
    Activation, Initializer, KernelSize, Layer, Model, ModelBuilder, Padding, PoolKind, Rounding, Shape, Source,
    Weights,
};
use crate::training::{Batching, InputRecipe, Loss, Normalization, Optimizer, Rule, SampleOrder};

pub(super) const CLASSES: u32 = 1000;
/// Mean and deviation of ImageNet's channels, pixels / 255, as Torch's examples normalise them.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];

/// He et al. (2015), "Deep Residual Learning for Image Recognition", table 1, 50 layers.
pub(super) fn resnet50() -> Workload {
    Workload {
        name: RESNET50,
        title: "ImageNet's size, residual network of 50 layers",
        description: "ResNet-50 of He et al. in its first version: the first 1×1 convolution of a stage has the stride, and \
                      not the 3×3 one as in \"v1.5\". 224×224 pixels, 1,000 classes, batch normalisation behind each \
                      convolution; SGD with momentum 0.9, L2 decay, and the paper's rate of 0.1 for 256 samples. Generated \
                      images of noise, 256 of them, so that only speed can be measured: it is in no suite and never ranked.",
        model: residual(224, [3, 4, 6, 3]),
        // Each stage's block that changes the shape, and one that does not. With twice as many, one behind the other, rounding
        // comes to as much of the gradients in f16 as the check allows.
        reduced: Some(residual(96, [2, 1, 1, 1])),
        ..on_images("generated-images-224")
    }
}

const RESNET50: &str = "resnet50-synthetic";

/// Filters of the first two convolutions of a stage's blocks.
const FILTERS: [u32; 4] = [64, 128, 256, 512];

/// With so many blocks in each stage, for images of so many pixels a side, a multiple of 32.
fn residual(side: u32, blocks: [u32; 4]) -> Model {
    let mut network = ModelBuilder::new(RESNET50, Shape::new(side, side, 3));
    normalized_convolution(&mut network, Source::Data, [64, 7, 2], Activation::Relu);
    let mut x = network.then(Layer::Pool {
        kind: PoolKind::Max,
        side: 3,
        stride: 2,
        padding: 1,
        rounding: Rounding::Floor,
        activation: Activation::Identity,
    });
    for (stage, (filters, blocks)) in FILTERS.into_iter().zip(blocks).enumerate() {
        for block in 0..blocks {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let narrow = normalized_convolution(&mut network, x, [filters, 1, stride], Activation::Relu);
            let narrow = normalized_convolution(&mut network, narrow, [filters, 3, 1], Activation::Relu);
            let residual = normalized_convolution(&mut network, narrow, [4 * filters, 1, 1], Activation::Identity);
            // The first block of each stage makes more channels, or fewer pixels.
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
    network.finish()
}

/// A square convolution (filters, side, stride) without bias, padded so that the stride alone makes the image smaller, and
/// its normalisation.
fn normalized_convolution(
    network: &mut ModelBuilder,
    source: Source,
    [filters, side, stride]: [u32; 3],
    activation: Activation,
) -> Source {
    let weights = Weights::new(Initializer::FanInNormal { scale: 2.0 }).without_bias();
    let (padding, none) = (Padding::Zeros(side / 2), Activation::Identity);
    network.after(
        source,
        Layer::Conv2d { filters, size: KernelSize::Square(side), stride, padding, activation: none, weights },
    );
    network.then(batch_norm(activation))
}

/// What networks on generated images have in common.
pub(super) fn on_images(data_set: &'static str) -> Workload {
    /// The paper's rate, which is for batches of 256.
    const RATE: f64 = 0.1;
    const BATCH: u32 = 32;
    Workload {
        name: "",
        title: "",
        description: "",
        data_set,
        training: None,
        model: Model::sequence("", Shape::vector(1), Vec::new()),
        input: InputRecipe {
            normalization: Normalization::Channels { mean: MEAN, deviation: DEVIATION },
            ..InputRecipe::scaled(255.0)
        },
        loss: Loss::default(),
        optimizer: Optimizer {
            weight_decay: 1e-4,
            // In proportion to the batch: Goyal et al. (2017).
            ..Optimizer::new(Rule::Sgd { momentum: 0.9 }, RATE * f64::from(BATCH) / 256.0)
        },
        average: None,
        early_stopping: None,
        reduced: None,
        batch_size: BATCH,
        order: SampleOrder::Shuffled,
        batching: Batching::ShortLast,
        published_epochs: 90,
        // Nobody can learn the classes of noise.
        target_accuracy: 1.0,
        evaluations_per_epoch: 1,
        loss_tolerance: 1e-3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TensorKind;

    /// Values of the tensors of this kind whose names end so.
    fn elements(model: &Model, ends: &str) -> u64 {
        let tensors = model.tensors().unwrap().into_iter();
        tensors.filter(|tensor| tensor.name.ends_with(ends)).map(|tensor| tensor.elements() as u64).sum()
    }

    #[test]
    fn resnet50_has_the_parameters_of_keras_and_the_operations_of_its_paper() {
        let model = resnet50().model;
        let statistics = model.tensors().unwrap().into_iter().filter(|tensor| tensor.kind == TensorKind::Statistic);
        let statistics: u64 = statistics.map(|tensor| tensor.elements() as u64).sum();
        // Keras counts running averages as well, and its convolutions have biases, which the normalisations take away again:
        // as many as there are scales.
        let keras = model.parameters().unwrap() + statistics + elements(&model, "/scale");
        assert_eq!((keras, statistics), (25_636_712, 53_120));
        let multiply_adds = model.operations().unwrap().forward_multiply_adds as f64;
        assert!((multiply_adds - 3.8e9).abs() < 0.1e9, "table 1 of the paper: {multiply_adds}");
        let convolutions = model.nodes.iter().filter(|node| matches!(node.layer, Layer::Conv2d { .. })).count();
        // Forty-nine, and the four of shortcuts; the fiftieth layer is dense.
        assert_eq!(convolutions, 49 + 4);
    }
}
