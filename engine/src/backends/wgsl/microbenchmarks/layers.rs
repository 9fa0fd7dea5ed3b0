//! Dense layers and convolutions in DeepBench's sizes.

use results::kernels::{KernelSuite, Pass};
use shaders::params::{Conv2d, Dense};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::plan::products::{pixels_per_part, rows_per_part_of_product};
use super::super::products::{Params, Product};
use super::product::{LayerPass, Operand, PlainSum, choose_indices};

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

/// Creates all three passes of each size.
///
/// DeepBench computes C = A·B in column-major order, with an M × K matrix A and a K × N matrix B. In row-major order,
/// this is a layer with M units and K inputs on a batch of N samples. Each size is measured in all three passes, which
/// read their operands in place: without transposition, or with the left or right operand transposed.
pub(super) fn matrix_products(emulated: bool) -> Vec<LayerPass> {
    let layers = MATRIX_SIZES.into_iter().map(|(units, rows, inputs)| MeasuredLayer::dense(units, rows, inputs));
    layers.flat_map(|layer| Pass::ALL.map(|pass| layer.pass(pass, emulated))).collect()
}

/// Input width, height and channels; samples; filters; kernel width and height; padding; stride.
pub(super) type ConvolutionSize = ([u32; 3], u32, u32, [u32; 2], u32, u32);

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

pub(super) fn convolutions(emulated: bool) -> Vec<LayerPass> {
    let passes = |size| Pass::ALL.map(|pass| MeasuredLayer::new(size).pass(pass, emulated));
    CONVOLUTION_SIZES.into_iter().flat_map(passes).collect()
}

/// A layer y = x ∘ weights + bias, where ∘ is a convolution. A matrix product is a convolution of single pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeasuredLayer {
    params: Conv2d,
    /// Output channels without padding. Convolutions have none.
    filters: u32,
    /// True for a layer with the kernels of dense layers.
    is_dense: bool,
}

impl MeasuredLayer {
    pub(super) fn new(size: ConvolutionSize) -> Self {
        let ([width, height, channels], samples, filters, [kernel_width, kernel_height], padding, stride) = size;
        let outputs = filters.next_multiple_of(CHANNEL_ALIGNMENT);
        let bias_offset = kernel_height * kernel_width * channels * outputs;
        let params = Conv2d {
            rows: samples,
            input_height: height,
            input_width: width,
            input_channels: channels,
            output_height: (height + 2 * padding - kernel_height) / stride + 1,
            output_width: (width + 2 * padding - kernel_width) / stride + 1,
            output_channels: outputs,
            window_height: kernel_height,
            window_width: kernel_width,
            padding_rows: padding,
            padding_columns: padding,
            part_stride: bias_offset + outputs,
            bias_offset,
            stride,
            ..Conv2d::default()
        };
        Self { params, filters, is_dense: false }
    }

    /// Creates a dense layer. `inputs` is a multiple of 4.
    pub(super) fn dense(units: u32, rows: u32, inputs: u32) -> Self {
        Self { is_dense: true, ..Self::new(([1, 1, inputs], rows, units, [1, 1], 0, 1)) }
    }

    fn output_pixels(&self) -> u32 {
        self.params.rows * self.params.output_height * self.params.output_width
    }

    /// Returns the number of inputs of an output value.
    fn patch(&self) -> u32 {
        self.params.window_height * self.params.window_width * self.params.input_channels
    }

    /// Returns the input, the weights and the gradient of the output.
    fn operands(&self) -> [Operand; 3] {
        let Conv2d { rows, input_height, input_width, input_channels, output_channels, .. } = self.params;
        let outputs = |stream, rows| Operand { known: self.filters, ..Operand::full(stream, rows, output_channels) };
        let x = Operand::full(1, rows * input_height * input_width, input_channels);
        [x, outputs(2, self.patch()), outputs(3, self.output_pixels())]
    }

    pub(super) fn pass(self, pass: Pass, emulated: bool) -> LayerPass {
        let Conv2d { rows, input_channels: inputs, output_channels: outputs, part_stride, bias_offset, .. } =
            self.params;
        let (suite, size, params) = if self.is_dense {
            let rows_per_part = rows_per_part_of_product(rows, [inputs, outputs], emulated);
            let units = self.filters;
            let params =
                Dense { rows, inputs, outputs, units, rows_per_part, part_stride, bias_offset, ..Dense::default() };
            (KernelSuite::Gemm, format!("{units} × {rows} × {inputs}"), Params::Dense(params))
        } else {
            let Conv2d { input_height, input_width, window_height, window_width, stride, .. } = self.params;
            let stride = if stride == 1 { String::new() } else { format!(" stride {stride}") };
            let input = format!("{rows} × {input_width}×{input_height}×{inputs}");
            let size = format!("{input} → {}, {window_width}×{window_height}{stride}", self.filters);
            let params = Conv2d { pixels_per_part: pixels_per_part(&self.params, emulated), ..self.params };
            (KernelSuite::Conv, size, Params::Conv2d(params))
        };
        // The input's channels cannot be read four at a time.
        let is_raw_data = pass == Pass::InputGradient && !inputs.is_multiple_of(CHANNEL_ALIGNMENT);
        let product = Product { pass, params };
        let [x, weights, dy] = self.operands();
        let (operands, results) = match pass {
            Pass::Forward => (vec![x, weights, Operand::zeros(1, dy.columns), Operand::zeros(dy.rows, dy.columns)], dy),
            Pass::WeightGradient => (vec![x, dy, Operand::zeros(product.extents().parts, part_stride)], weights),
            Pass::InputGradient => (vec![dy, weights, x, Operand::zeros(x.rows, x.columns)], x),
        };
        LayerPass {
            suite,
            size,
            flops: 2 * u64::from(self.output_pixels()) * u64::from(self.patch()) * u64::from(self.filters),
            rows,
            emulated,
            impossible: is_raw_data.then_some("raw data has no gradient"),
            output: operands.len() - 1,
            operands,
            checked: choose_indices(results.elements()),
            plain: Box::new(move |at| self.plain(pass, at)),
            product,
        }
    }

    /// Returns the taps of the window of an output pixel, each with its input pixel unless it is in the padding.
    fn window(&self, output_pixel: u32) -> impl Iterator<Item = (u32, Option<u32>)> + use<> {
        let params = self.params;
        let (width, height) = (params.output_width, params.output_height);
        let sample = output_pixel / (width * height);
        let (row, column) = (output_pixel / width % height, output_pixel % width);
        let inside = move |at: u32, tap: u32, extent: u32| {
            (at * params.stride + tap).checked_sub(params.padding_rows).filter(|&at| at < extent)
        };
        (0..params.window_height * params.window_width).map(move |tap| {
            let y = inside(row, tap / params.window_width, params.input_height);
            let x = inside(column, tap % params.window_width, params.input_width);
            (tap, y.zip(x).map(|(y, x)| (sample * params.input_height + y) * params.input_width + x))
        })
    }

    fn plain(&self, pass: Pass, at: u64) -> PlainSum {
        let at = u32::try_from(at).expect("indices fit into u32");
        let [x, weights, dy] = self.operands();
        let (channels, outputs) = (x.columns, dy.columns);
        match pass {
            Pass::Forward => {
                let (pixel, filter) = (at / outputs, at % outputs);
                let under = self.window(pixel).filter_map(|(tap, input)| Some((tap, input?)));
                PlainSum::of(under.flat_map(|(tap, input)| {
                    (0..channels).map(move |c| (x.at(input, c), weights.at(tap * channels + c, filter)))
                }))
            }
            Pass::WeightGradient => {
                let (row, filter) = (at / outputs, at % outputs);
                let (wanted, channel) = (row / channels, row % channels);
                PlainSum::of((0..self.output_pixels()).filter_map(|pixel| {
                    let input = self.window(pixel).find(|(tap, _)| *tap == wanted)?.1?;
                    Some((x.at(input, channel), dy.at(pixel, filter)))
                }))
            }
            Pass::InputGradient => {
                let (pixel, channel) = (at / channels, at % channels);
                let area = self.params.output_width * self.params.output_height;
                let sample = pixel / (self.params.input_width * self.params.input_height);
                // All windows of the sample with a tap on this pixel.
                let windows = (sample * area..(sample + 1) * area).flat_map(|output| {
                    let taps = self.window(output).filter(move |(_, input)| *input == Some(pixel));
                    taps.map(move |(tap, _)| (output, tap))
                });
                PlainSum::of(windows.flat_map(|(output, tap)| {
                    let row = tap * channels + channel;
                    (0..outputs).map(move |filter| (dy.at(output, filter), weights.at(row, filter)))
                }))
            }
        }
    }
}
