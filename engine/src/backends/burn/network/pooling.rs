use burn_tensor::module;
use burn_tensor::ops::{AvgPoolOptions, MaxPoolOptions};

use super::Planned;
use crate::backends::burn::value::{Value, sides};
use crate::model::{Layer, PoolKind, Rounding};

impl Planned {
    pub(super) fn pool(&self, input: Value) -> Value {
        let Layer::Pool { kind, side, stride, padding, rounding, activation } = self.node.layer else {
            unreachable!("only pooling layers pool");
        };
        let [side, stride, padding] = [side, stride, padding].map(|number| [number as usize; 2]);
        let ceil = rounding == Rounding::Ceil;
        let image = input.channels_first(self.input);
        let made = match kind {
            PoolKind::Max => {
                let options = MaxPoolOptions::new(side).with_stride(stride).with_padding(padding).with_ceil_mode(ceil);
                module::max_pool2d(image, options)
            }
            PoolKind::Average => {
                let options = AvgPoolOptions::new(side).with_stride(stride).with_padding(padding).with_ceil_mode(ceil);
                module::avg_pool2d(image, options.with_count_include_pad(false))
            }
        };
        let [height, width, _] = sides(self.output);
        assert_eq!(made.dims()[2..], [height, width], "Burn pools to the shape that the layer list says");
        Value::ChannelsFirst(made).activated(activation, self.functions)
    }
}
