//! Parameter blocks of the kernels that make batches of samples.

use bytemuck::{Pod, Zeroable};

use super::{Block, Field};

block! {
    /// `gather`: bytes of chosen samples become numbers.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Gather {
        /// Rows of the batch buffer.
        pub rows: u32,
        /// Values of a sample.
        pub features: u32,
        /// Values of a row of the output, at least `features`, a multiple of 4.
        pub stride: u32,
        /// Samples of the set.
        pub samples: u32,
        pub divisor: f32,
        /// Samples from this one on lie in the second binding. A twin has all of them in one slice.
        pub samples_in_first: u32,
        /// 1 where images and labels lie in the order in which they are gathered, and not in that of the set.
        pub streamed: u32,
        pub reserved: u32,
    }
}

block! {
    /// `gather_augmented`: bytes of chosen samples become numbers, cropped or padded, shifted, mirrored and normalised.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
    pub struct GatherAugmented {
        /// Rows of the batch buffer.
        pub rows: u32,
        /// Samples of the set.
        pub samples: u32,
        /// Samples from this one on lie in the second binding. A twin has all of them in one slice.
        pub samples_in_first: u32,
        pub source_height: u32,
        pub source_width: u32,
        /// Of the images in the batch.
        pub height: u32,
        pub width: u32,
        /// Of the source; at most 4 if they are normalised one by one.
        pub channels: u32,
        /// Stored channels of a pixel of the batch, at least `channels`, or 1 if they become grey; what is beyond is zero.
        pub channel_stride: u32,
        /// Values of a row of the batch, at least height · width · `channel_stride`, a multiple of 4; the tail is zero.
        pub row_stride: u32,
        /// Row of the source at which an image begins: positive for a crop, negative for a border.
        pub offset_y: i32,
        pub offset_x: i32,
        /// One of [`edge`].
        pub edge: u32,
        /// One of [`flip`].
        pub flip: u32,
        /// One of [`shift`].
        pub shift: u32,
        /// Largest shift: in pixels for [`shift::WHOLE`], in 1/1024 pixels, below 31 pixels, for [`shift::REAL`].
        pub shift_range: u32,
        pub divisor: f32,
        /// First of two streams of the generator.
        pub stream: u32,
        /// One of [`normalization`].
        pub normalization: u32,
        /// 1 to make one channel of all: their mean. Not together with a mean image.
        pub grey: u32,
        /// 1 where images and labels lie in the order in which they are gathered, and not in that of the set.
        pub streamed: u32,
        pub reserved: [u32; 3],
        /// Of each channel, in units of byte / divisor.
        pub mean: [f32; 4],
        pub inverse_deviation: [f32; 4],
    }
}

block! {
    /// `shuffle`: the order of the samples in an epoch, which is that of the step.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Shuffle {
        /// How many are trained on, at least one.
        pub samples: u32,
        /// Number of the first of them.
        pub first: u32,
        /// First of eight streams of the generator.
        pub stream: u32,
        pub reserved: u32,
    }
}

block! {
    /// `mirror_order`: the order of the samples, mirrored from the step's place on.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct MirrorOrder {
        /// How many are trained on; more than the step's offset.
        pub samples: u32,
        /// Stream of the generator.
        pub stream: u32,
        pub reserved: [u32; 2],
    }
}

/// What `gather_augmented` sees outside of an image.
pub mod edge {
    /// Black, which is normalised like any pixel; where there is a mean image, it is black there as well.
    pub const ZERO: u32 = 0;
    /// The nearest pixel.
    pub const NEAREST: u32 = 1;
    /// The image mirrored, without its edge repeated, as PyTorch's padding "reflect". Beyond that the nearest pixel.
    pub const REFLECT: u32 = 2;
}

/// Which images `gather_augmented` mirrors left to right.
pub mod flip {
    pub const NEVER: u32 = 0;
    /// In training half of them, drawn anew each time.
    pub const RANDOM: u32 = 1;
    /// In training half of them, drawn once, and in every other epoch the other half (airbench94).
    pub const ALTERNATING: u32 = 2;
    /// All of them, in tests too.
    pub const ALWAYS: u32 = 3;
}

/// How far `gather_augmented` shifts images in training, rows and columns each for itself.
pub mod shift {
    pub const NONE: u32 = 0;
    /// Whole pixels, each from minus to plus the range as likely as the others.
    pub const WHOLE: u32 = 1;
    /// Uniform real numbers; each pixel becomes the one nearest to where it then reads, as in Keras 2.
    pub const REAL: u32 = 2;
    /// Units of a pixel in which the range of [`REAL`] is given.
    pub const REAL_UNITS: u32 = 1024;
}

/// How `gather_augmented` normalises `byte / divisor`.
pub mod normalization {
    pub const NONE: u32 = 0;
    /// `(value - mean) · inverse deviation`, of each channel.
    pub const CHANNELS: u32 = 1;
    /// Minus the value of a mean image at this place of the source.
    pub const MEAN_IMAGE: u32 = 2;
}

block! {
    /// `standardize`: each image gets mean 0 and deviation 1, in training after random changes of light.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Standardize {
        pub rows: u32,
        /// Pixels of an image.
        pub pixels: u32,
        /// At most 4; stored without padding.
        pub channels: u32,
        /// Values of a row of the batch.
        pub row_stride: u32,
        /// Largest change of all values, up or down; 0 for none.
        pub brightness: f32,
        /// Range of the factor of each value's distance from the mean of its channel; 1 to 1 for no change.
        pub lowest_contrast: f32,
        pub highest_contrast: f32,
        /// Stream of the random numbers.
        pub stream: u32,
    }
}

block! {
    /// `local_contrast`: RGB becomes YUV with a locally normalised Y.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct LocalContrast {
        pub rows: u32,
        /// height · width is at most [`LOCAL_CONTRAST_PIXELS`].
        pub height: u32,
        pub width: u32,
        /// Values of a row of the batch; pixels are stored without padding.
        pub row_stride: u32,
        pub mean_u: f32,
        pub mean_v: f32,
        /// What U is multiplied by after `mean_u` is subtracted.
        pub scale_u: f32,
        pub scale_v: f32,
        /// Local deviations that are not larger are taken for this.
        pub threshold: f32,
        pub reserved: [u32; 3],
    }
}

/// Pixels of the largest image that `local_contrast` can hold in the memory of a workgroup.
pub const LOCAL_CONTRAST_PIXELS: u32 = 2048;
