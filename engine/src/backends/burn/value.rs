use burn_tensor::{Device, Tensor, TensorData};

use crate::model::Shape;

/// Layout of a sample's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AxisOrder {
    /// (rows, channels, height, width), as Burn's convolutions require.
    ChannelsFirst,
    /// (rows, pixels, channels), for products over each pixel's channels.
    ChannelsLast,
    /// (rows, features)
    Flat,
}

#[derive(Clone)]
pub(super) enum LayerValue {
    ChannelsFirst(Tensor<4>),
    ChannelsLast(Tensor<3>),
    Flat(Tensor<2>),
}

/// Applies an expression to a tensor in any layout.
macro_rules! map_value {
    ($value:expr, $tensor:ident => $result:expr) => {
        match $value {
            LayerValue::ChannelsFirst($tensor) => LayerValue::ChannelsFirst($result),
            LayerValue::ChannelsLast($tensor) => LayerValue::ChannelsLast($result),
            LayerValue::Flat($tensor) => LayerValue::Flat($result),
        }
    };
}
pub(super) use map_value;

impl AxisOrder {
    /// Returns the arrangement of a (rows, height, width, channels) batch in this order.
    pub(super) fn arrangement(self, rows: usize, shape: Shape) -> Arrangement {
        let [height, width, channels] = sides(shape);
        match self {
            Self::ChannelsFirst => Arrangement::new(vec![rows, height * width, channels], &[0, 2, 1]),
            Self::ChannelsLast | Self::Flat => Arrangement::plain(rows * height * width * channels),
        }
    }
}

impl LayerValue {
    /// Returns (rows, channels, height, width) of samples of `shape`.
    pub(super) fn channels_first(self, shape: Shape) -> Tensor<4> {
        let [height, width, channels] = sides(shape).map(|side| side as isize);
        match self {
            Self::ChannelsFirst(tensor) => tensor,
            Self::ChannelsLast(tensor) => tensor.swap_dims(1, 2).reshape([-1, channels, height, width]),
            // Vectors have one pixel.
            Self::Flat(tensor) => tensor.reshape([-1, channels, height, width]),
        }
    }

    /// Returns (rows, pixels, channels).
    pub(super) fn channels_last(self, shape: Shape) -> Tensor<3> {
        let [height, width, channels] = sides(shape).map(|side| side as isize);
        match self {
            Self::ChannelsFirst(tensor) => tensor.reshape([-1, channels, height * width]).swap_dims(1, 2),
            Self::ChannelsLast(tensor) => tensor,
            Self::Flat(tensor) => tensor.reshape([-1, height * width, channels]),
        }
    }

    /// Returns (rows, features) in memory order.
    pub(super) fn flat(self) -> Tensor<2> {
        match self {
            Self::ChannelsFirst(tensor) => tensor.flatten(1, 3),
            Self::ChannelsLast(tensor) => tensor.flatten(1, 2),
            Self::Flat(tensor) => tensor,
        }
    }

    pub(super) fn ordered(self, order: AxisOrder, shape: Shape) -> Self {
        match order {
            AxisOrder::ChannelsFirst => Self::ChannelsFirst(self.channels_first(shape)),
            AxisOrder::ChannelsLast => Self::ChannelsLast(self.channels_last(shape)),
            AxisOrder::Flat => Self::Flat(self.flat()),
        }
    }
}

pub(super) fn sides(shape: Shape) -> [usize; 3] {
    [shape.height, shape.width, shape.channels].map(|side| side as usize)
}

pub(super) fn list(values: Vec<f32>, device: &Device) -> Tensor<1> {
    let elements = values.len();
    Tensor::from_data(TensorData::new(values, [elements]), device)
}

/// Permutation of axes between our order and Burn's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrangement {
    /// Sizes of our axes, row-major.
    sides: Vec<usize>,
    /// Axis `i` of Burn's tensor is axis `axes[i]` of ours.
    axes: Vec<usize>,
}

impl Arrangement {
    pub(super) fn new(sides: Vec<usize>, axes: &[usize]) -> Self {
        assert_eq!(sides.len(), axes.len(), "every axis has its place");
        Self { sides, axes: axes.to_vec() }
    }

    pub(super) fn plain(elements: usize) -> Self {
        Self::new(vec![elements], &[0])
    }

    pub(super) fn store(&self, ours: Vec<f32>) -> Vec<f32> {
        if self.is_plain() {
            return ours;
        }
        self.places().into_iter().map(|place| ours[place]).collect()
    }

    pub(super) fn load(&self, stored: Vec<f32>) -> Vec<f32> {
        if self.is_plain() {
            return stored;
        }
        let mut ours = vec![0.0; stored.len()];
        for (place, value) in self.places().into_iter().zip(stored) {
            ours[place] = value;
        }
        ours
    }

    fn is_plain(&self) -> bool {
        self.axes.is_sorted()
    }

    /// Returns our index of each of Burn's elements.
    fn places(&self) -> Vec<usize> {
        let stride = |axis: usize| self.sides[axis + 1..].iter().product::<usize>();
        self.axes.iter().fold(vec![0], |places, &axis| {
            let steps = |place: usize| (0..self.sides[axis]).map(move |index| place + index * stride(axis));
            places.into_iter().flat_map(steps).collect()
        })
    }
}
