use burn_tensor::{Tensor, TensorData};
use shaders::reference::pcg4d::uniform;

use super::{Pass, Planned};
use crate::backends::burn::arrangement::Arrangement;
use crate::backends::burn::value::{Order, Value, sides};
use crate::model::Shape;
use crate::random::stream;

/// How the values of a batch, which we count as (rows, height, width, channels), lie in this order.
pub(super) fn arrangement(order: Order, rows: usize, shape: Shape) -> Arrangement {
    let [height, width, channels] = sides(shape);
    match order {
        Order::ChannelsFirst => Arrangement::new(vec![rows, height * width, channels], &[0, 2, 1]),
        Order::ChannelsLast | Order::Flat => Arrangement::plain(rows * height * width * channels),
    }
}

impl Planned {
    /// Which values survive is drawn on the host, from the same numbers as everywhere.
    pub(super) fn dropped(&self, input: Value, rate: f32, pass: &mut Pass<'_>) -> Value {
        if !pass.is_training() || !pass.dropout {
            return input;
        }
        let (stream, step) = (stream::DROPOUT + self.dropout, pass.step);
        let survivor = 1.0 / (1.0 - rate);
        // Counted over the whole batch, of which this device may have a share.
        let first = step.first_row.wrapping_mul(self.output.features());
        let factor = |index: u32| {
            if uniform(first.wrapping_add(index), stream, step.step, step.seed) >= rate { survivor } else { 0.0 }
        };
        let factors: Vec<f32> = (0..step.count * self.output.features()).map(factor).collect();
        let elements = factors.len();
        let stored = arrangement(self.order, step.count as usize, self.output).store(factors);
        input.times(Tensor::from_data(TensorData::new(stored, [elements]), pass.device))
    }
}
