//! Where a convolution's bias is added.

#[cfg(feature = "burn-wgpu")]
use burn_tensor::DeviceKind;
use burn_tensor::ops::ConvOptions;
use burn_tensor::{Device, Tensor, TensorData, module};

use crate::random::Generator;

/// The devices of Burn that every machine can compute on.
fn devices() -> Vec<(&'static str, Device)> {
    vec![
        #[cfg(feature = "burn-flex")]
        ("burn-flex", Device::flex()),
        #[cfg(feature = "burn-wgpu")]
        ("burn-wgpu", Device::wgpu(DeviceKind::Cpu)),
    ]
}

/// Uniform in ±`limit`.
#[expect(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
fn values(stream: u32, count: usize, limit: f64) -> Vec<f32> {
    let generator = Generator { stream, step: 0, seed: 1 };
    (0u32..).take(count).map(|index| ((2.0 * generator.uniform(index) - 1.0) * limit) as f32).collect()
}

/// Root mean square of what a convolution of 64 channels with a kernel of 5×5 taps is off by, with this bias, where Burn
/// adds the bias and where it is added afterwards.
fn off_by(device: &Device, bias: f32) -> [f64; 2] {
    const SAMPLES: usize = 32;
    const CHANNELS: usize = 64;
    const FILTERS: usize = 32;
    const KERNEL: usize = 5;
    // As large as the kernel, so that there is one sum for each filter.
    const IMAGE: usize = KERNEL;
    let images = values(0, SAMPLES * CHANNELS * IMAGE * IMAGE, 0.5);
    let kernels = values(1, FILTERS * CHANNELS * KERNEL * KERNEL, 0.05);
    let right = images.chunks_exact(CHANNELS * IMAGE * IMAGE).flat_map(|image| {
        let sum =
            |kernel: &[f32]| -> f64 { image.iter().zip(kernel).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum() };
        kernels.chunks_exact(CHANNELS * KERNEL * KERNEL).map(move |kernel| sum(kernel) + f64::from(bias))
    });
    let right: Vec<f64> = right.collect();
    let image = Tensor::<4>::from_data(TensorData::new(images.clone(), [SAMPLES, CHANNELS, IMAGE, IMAGE]), device);
    let kernel = Tensor::<4>::from_data(TensorData::new(kernels.clone(), [FILTERS, CHANNELS, KERNEL, KERNEL]), device);
    let biases = Tensor::<1>::from_data(TensorData::new(vec![bias; FILTERS], [FILTERS]), device);
    let options = || ConvOptions::new_with_padding([1; 2], [(0, 0); 2], [1; 2], 1);
    let inside = module::conv2d(image.clone(), kernel.clone(), Some(biases.clone()), options());
    let afterwards = module::conv2d(image, kernel, None, options()) + biases.reshape([1, FILTERS, 1, 1]);
    [inside, afterwards].map(|found| {
        let found = found.into_data();
        let squares = found.iter::<f64>().zip(&right).map(|(found, right)| (found - right).powi(2));
        (squares.sum::<f64>() / right.len() as f64).sqrt()
    })
}

#[test]
fn a_convolution_is_no_less_exact_where_its_bias_is_added_afterwards() {
    for (name, device) in devices() {
        for bias in [0.1, 1.0] {
            let [inside, afterwards] = off_by(&device, bias);
            eprintln!(
                "{name}, bias {bias}: off by {inside:.2e} with Burn's bias, {afterwards:.2e} with one afterwards"
            );
            assert!(afterwards <= 1.1 * inside, "{name}, bias {bias}: {afterwards:.2e} instead of {inside:.2e}");
        }
    }
}
