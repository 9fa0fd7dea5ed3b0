use burn_tensor::Tensor;

use super::functions::Functions;
use crate::model::{Activation, Shape};

/// How the values of a sample lie in a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// (rows, channels, height, width), as Burn's convolutions want them.
    ChannelsFirst,
    /// (rows, pixels, channels), as products of each pixel's channels want them.
    ChannelsLast,
    /// (rows, features)
    Flat,
}

/// What a layer made: a value for each sample.
#[derive(Clone)]
pub(super) enum Value {
    ChannelsFirst(Tensor<4>),
    ChannelsLast(Tensor<3>),
    Flat(Tensor<2>),
}

impl Value {
    /// (rows, channels, height, width); `shape` is that of a sample.
    pub(super) fn channels_first(self, shape: Shape) -> Tensor<4> {
        let [height, width, channels] = sides(shape);
        match self {
            Self::ChannelsFirst(tensor) => tensor,
            Self::ChannelsLast(tensor) => {
                let rows = tensor.dims()[0];
                tensor.swap_dims(1, 2).reshape([rows, channels, height, width])
            }
            // A layer that makes vectors makes a single pixel.
            Self::Flat(tensor) => {
                let rows = tensor.dims()[0];
                tensor.reshape([rows, channels, height, width])
            }
        }
    }

    /// (rows, pixels, channels)
    pub(super) fn channels_last(self, shape: Shape) -> Tensor<3> {
        let [height, width, channels] = sides(shape);
        match self {
            Self::ChannelsFirst(tensor) => {
                let rows = tensor.dims()[0];
                tensor.reshape([rows, channels, height * width]).swap_dims(1, 2)
            }
            Self::ChannelsLast(tensor) => tensor,
            Self::Flat(tensor) => {
                let rows = tensor.dims()[0];
                tensor.reshape([rows, height * width, channels])
            }
        }
    }

    /// (rows, features), the features in the order in which they lie.
    pub(super) fn flat(self) -> Tensor<2> {
        match self {
            Self::ChannelsFirst(tensor) => tensor.flatten(1, 3),
            Self::ChannelsLast(tensor) => tensor.flatten(1, 2),
            Self::Flat(tensor) => tensor,
        }
    }

    /// The same values in another order.
    pub(super) fn ordered(self, order: Order, shape: Shape) -> Self {
        match order {
            Order::ChannelsFirst => Self::ChannelsFirst(self.channels_first(shape)),
            Order::ChannelsLast => Self::ChannelsLast(self.channels_last(shape)),
            Order::Flat => Self::Flat(self.flat()),
        }
    }

    pub(super) fn activated(self, function: Activation, functions: Functions) -> Self {
        match self {
            Self::ChannelsFirst(tensor) => Self::ChannelsFirst(functions.activate(tensor, function)),
            Self::ChannelsLast(tensor) => Self::ChannelsLast(functions.activate(tensor, function)),
            Self::Flat(tensor) => Self::Flat(functions.activate(tensor, function)),
        }
    }

    /// The same values multiplied by others, whose list is in this one's order.
    pub(super) fn times(self, factors: Tensor<1>) -> Self {
        fn product<const D: usize>(tensor: Tensor<D>, factors: Tensor<1>) -> Tensor<D> {
            let dims = tensor.dims();
            tensor * factors.reshape(dims)
        }
        match self {
            Self::ChannelsFirst(tensor) => Self::ChannelsFirst(product(tensor, factors)),
            Self::ChannelsLast(tensor) => Self::ChannelsLast(product(tensor, factors)),
            Self::Flat(tensor) => Self::Flat(product(tensor, factors)),
        }
    }
}

/// Height, width and channels as Burn counts.
pub(super) fn sides(shape: Shape) -> [usize; 3] {
    [shape.height, shape.width, shape.channels].map(|side| side as usize)
}
