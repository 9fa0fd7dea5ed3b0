use burn_tensor::module;
use burn_tensor::ops::ConvOptions;

use super::{Pass, Planned};
use crate::backends::burn::value::{Order, Value, sides};
use crate::model::{Layer, Padding, zeros_before};

/// Whether a convolution is a product of each pixel's channels.
pub(super) fn is_pointwise(layer: &Layer) -> bool {
    matches!(layer, Layer::Conv2d { side: 1, stride: 1, padding: Padding::Valid | Padding::Same, .. })
}

impl Planned {
    pub(super) fn convolution(&self, input: Value, pass: &mut Pass<'_>) -> Value {
        let Layer::Conv2d { filters, side, stride, padding, activation, weights } = self.node.layer else {
            unreachable!("only convolutions are computed as such");
        };
        let [_, _, channels] = sides(self.input);
        let (filters, side, stride) = (filters as usize, side as usize, stride as usize);
        let mut bias = || weights.bias.map(|_| pass.leaves.vector(self.tensor + 1));
        let made = if self.order == Order::ChannelsLast {
            let bias = bias();
            let kernel = pass.leaves.matrix(self.tensor, [channels, filters]);
            Value::ChannelsLast(module::linear(input.channels_last(self.input), kernel, bias))
        } else {
            let bias = bias();
            let kernel = pass.leaves.kernel(self.tensor, [filters, channels, side, side]);
            let options = ConvOptions::new_with_padding([stride; 2], self.zeros(side, stride, padding), [1; 2], 1);
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
    fn zeros(&self, side: usize, stride: usize, padding: Padding) -> [(usize, usize); 2] {
        let [side_in_ours, stride_in_ours] =
            [side, stride].map(|number| u32::try_from(number).expect("it was one before"));
        let before = zeros_before(padding, side_in_ours, stride_in_ours, self.input, self.output) as usize;
        let [height, width, _] = sides(self.input);
        let [output_height, output_width, _] = sides(self.output);
        [(height, output_height), (width, output_width)].map(|(given, made)| {
            // As many on both sides wherever that makes as much: not every framework has a fast way for the others.
            let even = (given + 2 * before).checked_sub(side).map(|room| room / stride + 1);
            let after = ((made - 1) * stride + side).saturating_sub(given + before);
            (before, if even == Some(made) { before } else { after })
        })
    }
}
