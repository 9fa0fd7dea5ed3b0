//! Convolutions of DeepBench: a selection of its 94.

use results::kernels::{Pass, Suite};
use shaders::params::{Conv2d, Epilogue};

use super::super::plan::weight_gradient::pixels_per_part;
use super::super::products;
use super::super::variants::Variant;
use super::layer::Layer;
use super::operands::{Operand, PlainSum};
use super::product::Product;
use super::work::Work;

/// Input width, height and channels; samples; filters; kernel width and height; padding; stride.
type Size = ([u32; 3], u32, u32, [u32; 2], u32, u32);

#[rustfmt::skip]
const SIZES: [Size; 26] = [
    // Lines of text.
    ([480, 48, 1], 16, 16, [3, 3], 1, 1),
    ([240, 24, 16], 16, 32, [3, 3], 1, 1),
    ([120, 12, 32], 16, 64, [3, 3], 1, 1),
    ([60, 6, 64], 16, 128, [3, 3], 1, 1),
    // Faces.
    ([108, 108, 3], 8, 64, [3, 3], 1, 2),
    ([54, 54, 64], 8, 64, [3, 3], 1, 1),
    ([27, 27, 128], 8, 128, [3, 3], 1, 1),
    ([14, 14, 128], 8, 256, [3, 3], 1, 1),
    ([7, 7, 256], 8, 512, [3, 3], 1, 1),
    // As in VGG.
    ([224, 224, 3], 8, 64, [3, 3], 1, 1),
    ([112, 112, 64], 8, 128, [3, 3], 1, 1),
    ([28, 28, 256], 8, 512, [3, 3], 1, 1),
    ([7, 7, 512], 8, 512, [3, 3], 1, 1),
    // As in GoogLeNet.
    ([224, 224, 3], 16, 64, [7, 7], 3, 2),
    ([28, 28, 192], 16, 32, [5, 5], 2, 1),
    ([28, 28, 192], 16, 64, [1, 1], 0, 1),
    ([14, 14, 512], 16, 192, [1, 1], 0, 1),
    ([7, 7, 832], 16, 256, [1, 1], 0, 1),
    ([7, 7, 832], 16, 128, [5, 5], 2, 1),
    // As in ResNet.
    ([56, 56, 64], 8, 64, [3, 3], 1, 1),
    ([56, 56, 64], 8, 256, [1, 1], 0, 1),
    ([56, 56, 256], 8, 128, [1, 1], 0, 2),
    ([28, 28, 128], 8, 128, [3, 3], 1, 1),
    ([14, 14, 256], 8, 1024, [1, 1], 0, 1),
    // Speech.
    ([700, 161, 1], 4, 32, [20, 5], 0, 2),
    ([350, 80, 64], 16, 64, [3, 3], 1, 1),
];

pub(super) fn products(emulated: bool) -> Vec<Box<dyn Product>> {
    let every = SIZES.iter().flat_map(|&(input, samples, filters, kernel, padding, stride)| {
        Pass::ALL.into_iter().map(move |pass| {
            let [width, height, channels] = input;
            Convolution { width, height, channels, samples, filters, kernel, padding, stride, pass, emulated }
        })
    });
    every.map(|product| Box::new(product) as Box<dyn Product>).collect()
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Convolution {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) channels: u32,
    pub(super) samples: u32,
    /// A multiple of 4.
    pub(super) filters: u32,
    /// Width and height.
    pub(super) kernel: [u32; 2],
    pub(super) padding: u32,
    pub(super) stride: u32,
    pub(super) pass: Pass,
    /// Whether a CPU emulates the GPU; it sums gradients in fewer parts.
    pub(super) emulated: bool,
}

impl Convolution {
    fn output_width(&self) -> u32 {
        (self.width + 2 * self.padding - self.kernel[0]) / self.stride + 1
    }

    fn output_height(&self) -> u32 {
        (self.height + 2 * self.padding - self.kernel[1]) / self.stride + 1
    }

    fn taps(&self) -> u32 {
        self.kernel[0] * self.kernel[1]
    }

    fn output_pixels(&self) -> u32 {
        self.samples * self.output_height() * self.output_width()
    }

    /// Whether the input has too few channels to be read four at a time.
    fn is_narrow(&self) -> bool {
        !self.channels.is_multiple_of(4)
    }

    fn x(&self) -> Operand {
        Operand::full(1, self.samples * self.height * self.width, self.channels)
    }

    fn weights(&self) -> Operand {
        Operand::full(2, self.taps() * self.channels, self.filters)
    }

    fn dy(&self) -> Operand {
        Operand::full(3, self.output_pixels(), self.filters)
    }

    fn params(&self) -> Conv2d {
        let bias_offset = self.taps() * self.channels * self.filters;
        let params = Conv2d {
            rows: self.samples,
            input_height: self.height,
            input_width: self.width,
            input_channels: self.channels,
            output_height: self.output_height(),
            output_width: self.output_width(),
            output_channels: self.filters,
            window_height: self.kernel[1],
            window_width: self.kernel[0],
            padding_rows: self.padding,
            padding_columns: self.padding,
            pixels_per_part: 0,
            part_stride: bias_offset + self.filters,
            bias_offset,
            stride: self.stride,
            input_spare: 0,
            epilogue: Epilogue::default(),
        };
        Conv2d { pixels_per_part: pixels_per_part(&params, self.emulated), ..params }
    }

    fn layer(&self) -> Layer<Conv2d> {
        let params = self.params();
        Layer {
            rows: self.samples,
            x: self.x(),
            weights: self.weights(),
            dy: self.dy(),
            parts: self.output_pixels().div_ceil(params.pixels_per_part),
            part_stride: params.part_stride,
            emulated: self.emulated,
            params,
        }
    }

    /// Pixel of the input, if there is one, under each tap of the window that gives this pixel of the output.
    fn window(&self, output_pixel: u32) -> impl Iterator<Item = (u32, Option<u32>)> + use<> {
        let this = *self;
        let (width, height) = (self.output_width(), self.output_height());
        let sample = output_pixel / (width * height);
        let (row, column) = (output_pixel / width % height, output_pixel % width);
        (0..self.taps()).map(move |tap| {
            let y = (row * this.stride + tap / this.kernel[0]).checked_sub(this.padding).filter(|&y| y < this.height);
            let x = (column * this.stride + tap % this.kernel[0]).checked_sub(this.padding).filter(|&x| x < this.width);
            (tap, y.zip(x).map(|(y, x)| (sample * this.height + y) * this.width + x))
        })
    }
}

impl Product for Convolution {
    fn suite(&self) -> Suite {
        Suite::Conv
    }

    fn emulated(&self) -> bool {
        self.emulated
    }

    fn size(&self) -> String {
        let Self { width, height, channels, samples, filters, kernel: [kernel_width, kernel_height], .. } = self;
        let stride = if self.stride == 1 { String::new() } else { format!(" stride {}", self.stride) };
        format!("{samples} × {width}×{height}×{channels} → {filters}, {kernel_width}×{kernel_height}{stride}")
    }

    fn pass(&self) -> Pass {
        self.pass
    }

    fn flops(&self) -> u64 {
        2 * u64::from(self.output_pixels()) * self.weights().elements()
    }

    fn product(&self) -> products::Product {
        products::Product::new(self.pass, self.params())
    }

    fn buffers(&self) -> Vec<u64> {
        self.layer().buffers(self.pass)
    }

    fn impossible(&self) -> Option<&'static str> {
        (self.pass == Pass::InputGradient && self.is_narrow()).then_some("raw data has no gradient")
    }

    fn work(&self, variant: &Variant) -> Work {
        self.layer().work(self.pass, variant, &self.product())
    }

    fn results(&self) -> u64 {
        self.layer().results(self.pass)
    }

    fn plain(&self, at: u64) -> PlainSum {
        let at = u32::try_from(at).expect("a place in a buffer");
        let (x, weights, dy) = (self.x(), self.weights(), self.dy());
        match self.pass {
            Pass::Forward => {
                let (pixel, filter) = (at / self.filters, at % self.filters);
                let under = self.window(pixel).filter_map(|(tap, input)| Some((tap, input?)));
                PlainSum::of(under.flat_map(|(tap, input)| {
                    (0..self.channels).map(move |c| (x.at(input, c), weights.at(tap * self.channels + c, filter)))
                }))
            }
            Pass::WeightGradient => {
                let (row, filter) = (at / self.filters, at % self.filters);
                let (wanted, channel) = (row / self.channels, row % self.channels);
                PlainSum::of((0..self.output_pixels()).filter_map(|pixel| {
                    let input = self.window(pixel).find(|(tap, _)| *tap == wanted)?.1?;
                    Some((x.at(input, channel), dy.at(pixel, filter)))
                }))
            }
            Pass::InputGradient => {
                let (pixel, channel) = (at / self.channels, at % self.channels);
                let area = self.output_width() * self.output_height();
                let sample = pixel / (self.width * self.height);
                // Every window of the sample that has this pixel under one of its taps.
                let windows = (sample * area..(sample + 1) * area).flat_map(|output| {
                    let taps = self.window(output).filter(move |(_, input)| *input == Some(pixel));
                    taps.map(move |(tap, _)| (output, tap))
                });
                PlainSum::of(windows.flat_map(|(output, tap)| {
                    let row = tap * self.channels + channel;
                    (0..self.filters).map(move |filter| (dy.at(output, filter), weights.at(row, filter)))
                }))
            }
        }
    }
}
