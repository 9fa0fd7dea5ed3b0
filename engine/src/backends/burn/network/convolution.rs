use burn_tensor::module;
use burn_tensor::ops::ConvOptions;

use super::{Pass, Planned};
use crate::backends::burn::value::{Order, Value, sides};
use crate::model::{KernelSize, Layer, Padding, zeros_before};

/// Whether a convolution is a product of each pixel's channels.
pub(super) fn is_pointwise(layer: &Layer) -> bool {
    matches!(layer, Layer::Conv2d { size, stride: 1, padding: Padding::Valid | Padding::Same, .. } if size.area() == 1)
}

impl Planned {
    pub(super) fn convolution(&self, input: Value, pass: &mut Pass<'_>) -> Value {
        let Layer::Conv2d { filters, size, stride, padding, activation, weights } = self.node.layer else {
            unreachable!("only convolutions are computed as such");
        };
        let [_, _, channels] = sides(self.input);
        let (filters, [height, width]) = (filters as usize, size.sides().map(|side| side as usize));
        let mut bias = || weights.bias.map(|_| pass.leaves.vector(self.tensor + 1));
        let made = if self.order == Order::ChannelsLast {
            let bias = bias();
            let kernel = pass.leaves.matrix(self.tensor, [channels, filters]);
            Value::ChannelsLast(module::linear(input.channels_last(self.input), kernel, bias))
        } else {
            let bias = bias();
            let kernel = pass.leaves.kernel(self.tensor, [filters, channels, height, width]);
            let options =
                ConvOptions::new_with_padding([stride as usize; 2], self.zeros(size, stride, padding), [1; 2], 1);
            // Not begun with the bias: a kernel for graphics devices would round every product to what the bias leaves
            // room for, and the bias's gradient would be one long sum. It costs no time that could be measured.
            let sums = module::conv2d(input.channels_first(self.input), kernel, None, options);
            Value::ChannelsFirst(match bias {
                Some(bias) => sums + bias.reshape([1, filters, 1, 1]),
                None => sums,
            })
        };
        made.activated(activation, self.functions)
    }

    /// Zeros before and after the rows and the columns.
    fn zeros(&self, size: KernelSize, stride: u32, padding: Padding) -> [(usize, usize); 2] {
        let before = zeros_before(padding, size, stride, self.input, self.output);
        let ([height, width, _], [output_height, output_width, _]) = (sides(self.input), sides(self.output));
        let ([rows, columns], stride) = (size.sides(), stride as usize);
        let of_axis = |before: u32, side: u32, given: usize, made: usize| {
            let (before, side) = (before as usize, side as usize);
            // As many on both sides wherever that makes as much: not every framework has a fast way for the others.
            let even = (given + 2 * before).checked_sub(side).map(|room| room / stride + 1);
            let after = ((made - 1) * stride + side).saturating_sub(given + before);
            (before, if even == Some(made) { before } else { after })
        };
        [of_axis(before[0], rows, height, output_height), of_axis(before[1], columns, width, output_width)]
    }
}
