//! Dense layers and convolutions in DeepBench's sizes.

use results::kernels::{Pass, Suite};
use shaders::params::{Conv2d, Dense};
use shaders::reference::pcg4d::uniform;

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::plan::weight_gradient::{pixels_per_part, rows_per_part_of_product};
use super::super::products::Product;
use super::super::variants::Variant;
use super::lab::Work;
use super::product::LayerPass;

const SEED: u32 = 7;

/// Row-major matrix of random numbers in -1..1, with zeros as padding from column `known` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    /// Stream of random numbers, different for each operand.
    pub(super) stream: u32,
    pub(super) rows: u32,
    pub(super) columns: u32,
    pub(super) known: u32,
}

impl Operand {
    /// Creates a matrix without padding.
    pub(super) fn full(stream: u32, rows: u32, columns: u32) -> Self {
        Self { stream, rows, columns, known: columns }
    }

    pub(super) fn elements(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.columns)
    }

    pub(super) fn at(&self, row: u32, column: u32) -> f32 {
        if column >= self.known {
            return 0.0;
        }
        // The index never wraps in practice: no buffer holds four billion numbers.
        let index = row.wrapping_mul(self.columns).wrapping_add(column);
        2.0 * uniform(index, self.stream, 0, SEED) - 1.0
    }

    pub(super) fn numbers(&self) -> Vec<f32> {
        (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| self.at(row, column))).collect()
    }
}

/// Sum of products in double precision, with the sum of their magnitudes, which bounds the rounding error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PlainSum {
    pub(super) value: f64,
    pub(super) magnitude: f64,
}

impl PlainSum {
    pub(super) fn of(products: impl Iterator<Item = (f32, f32)>) -> Self {
        products.fold(Self::default(), |sum, (a, b)| {
            let product = f64::from(a) * f64::from(b);
            Self { value: sum.value + product, magnitude: sum.magnitude + product.abs() }
        })
    }
}

/// Operands of a layer y = x ∘ weights + bias, where ∘ is a matrix product or a convolution.
///
/// The kernels of all such layers bind the same buffers in the same order.
struct LayerOperands {
    x: Operand,
    weights: Operand,
    dy: Operand,
}

impl LayerOperands {
    /// Returns the number of elements in the result.
    fn results(&self, pass: Pass) -> u64 {
        match pass {
            Pass::Forward => self.dy.elements(),
            Pass::WeightGradient => self.weights.elements(),
            Pass::InputGradient => self.x.elements(),
        }
    }

    /// Creates the work of one pass with `variant`.
    fn work(&self, product: &Product, variant: &Variant, rows: u32, emulated: bool) -> Work {
        let mut work = Work::new(rows);
        let output = match product.pass {
            Pass::Forward => {
                let x = work.floats("x", &self.x.numbers());
                let weights = work.floats("weights", &self.weights.numbers());
                let bias = work.zeros("bias", u64::from(self.dy.columns));
                let y = work.zeros("y", self.dy.elements());
                work.repeat_variant(variant, product, &[x, weights, bias, y]);
                y
            }
            Pass::WeightGradient => {
                let x = work.floats("x", &self.x.numbers());
                let dy = work.floats("dy", &self.dy.numbers());
                let partial = work.zeros("gradient parts", product.elements()[2]);
                work.repeat_variant(variant, product, &[x, dy, partial]);
                work.sum(partial, product, emulated)
            }
            Pass::InputGradient => {
                let dy = work.floats("dy", &self.dy.numbers());
                let weights = work.floats("weights", &self.weights.numbers());
                let x = work.floats("x", &self.x.numbers());
                let dx = work.zeros("dx", self.x.elements());
                work.repeat_variant(variant, product, &[dy, weights, x, dx]);
                dx
            }
        };
        work.output = Some(output);
        work
    }
}

/// Sizes (M, N, K) of matrix products: three squares, then a selection of DeepBench's 160, sorted by operations.
const MATRIX_SIZES: [(u32, u32, u32); 13] = [
    (512, 512, 512),
    (1024, 1024, 1024),
    (4096, 4096, 4096),
    (512, 16, 512),
    (1760, 16, 1760),
    (1024, 700, 512),
    (1760, 128, 1760),
    (3072, 128, 1024),
    (2560, 64, 2560),
    (35, 8457, 2560),
    (1760, 7000, 1760),
    (512, 24_000, 2048),
    (4096, 7000, 4096),
];

pub(super) fn matrix_products(emulated: bool) -> Vec<Box<dyn LayerPass>> {
    let every = MATRIX_SIZES.iter().flat_map(|&(units, rows, inputs)| {
        Pass::ALL.into_iter().map(move |pass| MatrixProduct { units, rows, inputs, pass, emulated })
    });
    every.map(|product| Box::new(product) as Box<dyn LayerPass>).collect()
}

/// One of the three products of a dense layer.
///
/// DeepBench computes C = A·B in column-major order, with an M × K matrix A and a K × N matrix B. In row-major order,
/// this is a layer with M units and K inputs on a batch of N samples. Each size is measured in all three passes, which
/// read their operands in place: without transposition, or with the left or right operand transposed.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatrixProduct {
    /// M.
    pub(super) units: u32,
    /// N.
    pub(super) rows: u32,
    /// K, a multiple of 4.
    pub(super) inputs: u32,
    pub(super) pass: Pass,
    /// True if a CPU emulates the GPU, which sums gradients in fewer parts.
    pub(super) emulated: bool,
}

impl MatrixProduct {
    /// Returns the number of stored outputs, including padding.
    fn outputs(&self) -> u32 {
        self.units.next_multiple_of(CHANNEL_ALIGNMENT)
    }

    fn operands(&self) -> LayerOperands {
        let outputs = |stream, rows| Operand { stream, rows, columns: self.outputs(), known: self.units };
        let x = Operand::full(1, self.rows, self.inputs);
        LayerOperands { x, weights: outputs(2, self.inputs), dy: outputs(3, self.rows) }
    }

    fn params(&self) -> Dense {
        let outputs = self.outputs();
        let bias_offset = self.inputs * outputs;
        Dense {
            rows: self.rows,
            inputs: self.inputs,
            outputs,
            units: self.units,
            rows_per_part: rows_per_part_of_product(self.rows, [self.inputs, outputs], self.emulated),
            part_stride: bias_offset + outputs,
            bias_offset,
            ..Dense::default()
        }
    }
}

impl LayerPass for MatrixProduct {
    fn suite(&self) -> Suite {
        Suite::Gemm
    }

    fn is_emulated(&self) -> bool {
        self.emulated
    }

    fn size(&self) -> String {
        format!("{} × {} × {}", self.units, self.rows, self.inputs)
    }

    fn flops(&self) -> u64 {
        2 * u64::from(self.units) * u64::from(self.rows) * u64::from(self.inputs)
    }

    fn product(&self) -> Product {
        Product::new(self.pass, self.params())
    }

    fn work(&self, variant: &Variant) -> Work {
        self.operands().work(&self.product(), variant, self.rows, self.emulated)
    }

    fn results(&self) -> u64 {
        self.operands().results(self.pass)
    }

    fn plain(&self, at: u64) -> PlainSum {
        let columns = u64::from(if self.pass == Pass::InputGradient { self.inputs } else { self.outputs() });
        let place = |number: u64| u32::try_from(number).expect("indices fit into u32");
        let (row, column) = (place(at / columns), place(at % columns));
        let LayerOperands { x, weights, dy } = self.operands();
        match self.pass {
            Pass::Forward => PlainSum::of((0..self.inputs).map(|k| (x.at(row, k), weights.at(k, column)))),
            Pass::WeightGradient => PlainSum::of((0..self.rows).map(|r| (x.at(r, row), dy.at(r, column)))),
            Pass::InputGradient => PlainSum::of((0..self.outputs()).map(|n| (dy.at(row, n), weights.at(column, n)))),
        }
    }
}

/// Input width, height and channels; samples; filters; kernel width and height; padding; stride.
type ConvolutionSize = ([u32; 3], u32, u32, [u32; 2], u32, u32);

/// Selection of DeepBench's 94 convolutions.
#[rustfmt::skip]
const CONVOLUTION_SIZES: [ConvolutionSize; 26] = [
    // OCR.
    ([480, 48, 1], 16, 16, [3, 3], 1, 1),
    ([240, 24, 16], 16, 32, [3, 3], 1, 1),
    ([120, 12, 32], 16, 64, [3, 3], 1, 1),
    ([60, 6, 64], 16, 128, [3, 3], 1, 1),
    // Face recognition.
    ([108, 108, 3], 8, 64, [3, 3], 1, 2),
    ([54, 54, 64], 8, 64, [3, 3], 1, 1),
    ([27, 27, 128], 8, 128, [3, 3], 1, 1),
    ([14, 14, 128], 8, 256, [3, 3], 1, 1),
    ([7, 7, 256], 8, 512, [3, 3], 1, 1),
    // VGG.
    ([224, 224, 3], 8, 64, [3, 3], 1, 1),
    ([112, 112, 64], 8, 128, [3, 3], 1, 1),
    ([28, 28, 256], 8, 512, [3, 3], 1, 1),
    ([7, 7, 512], 8, 512, [3, 3], 1, 1),
    // GoogLeNet.
    ([224, 224, 3], 16, 64, [7, 7], 3, 2),
    ([28, 28, 192], 16, 32, [5, 5], 2, 1),
    ([28, 28, 192], 16, 64, [1, 1], 0, 1),
    ([14, 14, 512], 16, 192, [1, 1], 0, 1),
    ([7, 7, 832], 16, 256, [1, 1], 0, 1),
    ([7, 7, 832], 16, 128, [5, 5], 2, 1),
    // ResNet.
    ([56, 56, 64], 8, 64, [3, 3], 1, 1),
    ([56, 56, 64], 8, 256, [1, 1], 0, 1),
    ([56, 56, 256], 8, 128, [1, 1], 0, 2),
    ([28, 28, 128], 8, 128, [3, 3], 1, 1),
    ([14, 14, 256], 8, 1024, [1, 1], 0, 1),
    // Speech recognition.
    ([700, 161, 1], 4, 32, [20, 5], 0, 2),
    ([350, 80, 64], 16, 64, [3, 3], 1, 1),
];

pub(super) fn convolutions(emulated: bool) -> Vec<Box<dyn LayerPass>> {
    let every = CONVOLUTION_SIZES.iter().flat_map(|&(input, samples, filters, kernel, padding, stride)| {
        Pass::ALL.into_iter().map(move |pass| {
            let [width, height, channels] = input;
            Convolution { width, height, channels, samples, filters, kernel, padding, stride, pass, emulated }
        })
    });
    every.map(|product| Box::new(product) as Box<dyn LayerPass>).collect()
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
    /// True if a CPU emulates the GPU, which sums gradients in fewer parts.
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

    /// Returns true if the input's channels cannot be read four at a time.
    fn is_narrow(&self) -> bool {
        !self.channels.is_multiple_of(4)
    }

    fn operands(&self) -> LayerOperands {
        LayerOperands {
            x: Operand::full(1, self.samples * self.height * self.width, self.channels),
            weights: Operand::full(2, self.taps() * self.channels, self.filters),
            dy: Operand::full(3, self.output_pixels(), self.filters),
        }
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
            part_stride: bias_offset + self.filters,
            bias_offset,
            stride: self.stride,
            ..Conv2d::default()
        };
        Conv2d { pixels_per_part: pixels_per_part(&params, self.emulated), ..params }
    }

    /// Returns the taps of the window of an output pixel, each with its input pixel unless it is in the padding.
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

impl LayerPass for Convolution {
    fn suite(&self) -> Suite {
        Suite::Conv
    }

    fn is_emulated(&self) -> bool {
        self.emulated
    }

    fn size(&self) -> String {
        let Self { width, height, channels, samples, filters, kernel: [kernel_width, kernel_height], .. } = self;
        let stride = if self.stride == 1 { String::new() } else { format!(" stride {}", self.stride) };
        format!("{samples} × {width}×{height}×{channels} → {filters}, {kernel_width}×{kernel_height}{stride}")
    }

    fn flops(&self) -> u64 {
        2 * u64::from(self.output_pixels()) * self.operands().weights.elements()
    }

    fn product(&self) -> Product {
        Product::new(self.pass, self.params())
    }

    fn impossible(&self) -> Option<&'static str> {
        (self.pass == Pass::InputGradient && self.is_narrow()).then_some("raw data has no gradient")
    }

    fn work(&self, variant: &Variant) -> Work {
        self.operands().work(&self.product(), variant, self.samples, self.emulated)
    }

    fn results(&self) -> u64 {
        self.operands().results(self.pass)
    }

    fn plain(&self, at: u64) -> PlainSum {
        let at = u32::try_from(at).expect("indices fit into u32");
        let LayerOperands { x, weights, dy } = self.operands();
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
                // All windows of the sample with a tap on this pixel.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_padding_is_zero() {
        let operand = Operand { stream: 1, rows: 3, columns: 4, known: 3 };
        let numbers = operand.numbers();
        assert_eq!(numbers.len() as u64, operand.elements());
        for (i, &number) in (0u32..).zip(&numbers) {
            assert_eq!(number == 0.0, i % 4 == 3, "{i}");
            assert_eq!(number, operand.at(i / 4, i % 4));
        }
        assert_ne!(numbers, Operand { stream: 2, ..operand }.numbers());
    }
}
