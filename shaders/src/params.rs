//! Parameter blocks: the uniform at group 0, binding 0 of each kernel, and the step's at group 1.
//!
//! The build script makes them from the WGSL structures; `tests/wgsl.rs` checks their sizes.

use bytemuck::{Pod, Zeroable};

include!(concat!(env!("OUT_DIR"), "/params.rs"));

impl Epilogue {
    /// Returns the epilogue for a layout that stores channels in multiples of `alignment`.
    #[must_use]
    pub fn stored(self, alignment: u32) -> Self {
        Self { stored_channels: self.channels.next_multiple_of(alignment), ..self }
    }
}

/// Numbers of the activations. An [`Epilogue`] supports those whose derivative follows from their result.
pub mod activation {
    pub const IDENTITY: u32 = 0;
    /// `max(x, 0)`, with slope 0 at 0.
    pub const RELU: u32 = 1;
    pub const TANH: u32 = 2;
    /// `x·Φ(x)`. Its derivative does not follow from its result, so no [`Epilogue`] supports it; only layers that
    /// apply it themselves do.
    pub const GELU: u32 = 3;
}

/// `bias_offset` of a layer without bias.
pub const NO_BIAS: u32 = u32::MAX;

/// Number of consecutive arena elements that share multipliers; tensors begin at multiples of it.
pub const BLOCK_ELEMENTS: u32 = 256;

/// Largest head size that the attention kernels support.
pub const MAX_HEAD_SIZE: u32 = 64;
/// The same for those that use subgroups.
pub const MAX_SUBGROUP_HEAD_SIZE: u32 = 32;

/// Surroundings of an image in `gather_augmented`.
pub mod edge {
    /// Black, normalized like any pixel. A mean image is also extended with black.
    pub const ZERO: u32 = 0;
    /// The nearest pixel.
    pub const NEAREST: u32 = 1;
    /// Mirrored image without a repeated edge, like PyTorch's padding "reflect"; the nearest pixel beyond that.
    pub const REFLECT: u32 = 2;
}

/// Selection of the images that `gather_augmented` mirrors left to right.
pub mod flip {
    pub const NEVER: u32 = 0;
    /// A random half in training, drawn anew each time.
    pub const RANDOM: u32 = 1;
    /// A random half in training, drawn once; every other epoch mirrors the other half (airbench94).
    pub const ALTERNATING: u32 = 2;
    /// All images, in tests too.
    pub const ALWAYS: u32 = 3;
}

/// Shifts of images by `gather_augmented` in training, of rows and columns independently.
pub mod shift {
    pub const NONE: u32 = 0;
    /// Whole pixels, uniform from minus to plus the range.
    pub const WHOLE: u32 = 1;
    /// Uniform real numbers with nearest-pixel sampling, as in Keras 2.
    pub const REAL: u32 = 2;
    /// Units per pixel of the range of [`REAL`].
    pub const REAL_UNITS: u32 = 1024;
}

/// Normalization of `byte / divisor` by `gather_augmented`.
pub mod normalization {
    pub const NONE: u32 = 0;
    /// `(value - mean) · inverse deviation` for each channel.
    pub const CHANNELS: u32 = 1;
    /// Subtracts the value of a mean image at the same source position.
    pub const MEAN_IMAGE: u32 = 2;
}

/// Number of pixels of the largest image that `local_contrast` can hold in workgroup memory.
pub const LOCAL_CONTRAST_PIXELS: u32 = 2048;

/// Number of fused multiply-adds per value in an iteration of a `peak_fma` kernel.
pub const PEAK_FMAS: u32 = 128;
