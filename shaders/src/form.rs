//! What the text of a kernel depends on beside the kernel.

/// What is stored, and for kernels whose subgroups multiply blocks also what multiplies them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    pub stored: Stored,
    pub matrices: Option<Matrices>,
}

impl Form {
    /// Blocks of f16 that are multiplied so.
    #[must_use]
    pub const fn with_matrices(matrices: Matrices) -> Self {
        Self { stored: Stored::F16, matrices: Some(matrices) }
    }
}

impl From<Stored> for Form {
    fn from(stored: Stored) -> Self {
        Self { stored, matrices: None }
    }
}

/// What multiplies the blocks, of 16 × 16 numbers, of a matrix tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matrices {
    /// Loops, on every device with subgroups and f16: the obvious twin of the others.
    #[default]
    Plain,
    /// Matrix units for 8 × 8 numbers, four to a block. Needs wgpu's cooperative matrices of that shape.
    Eight,
    /// Matrix units for 16 × 16 numbers. Needs wgpu's cooperative matrices of that shape.
    Sixteen,
}

impl Matrices {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Eight, Self::Sixteen];

    /// Rows, columns and depth of what a unit multiplies at once; none where there is no unit.
    #[must_use]
    pub const fn side(self) -> Option<u32> {
        match self {
            Self::Plain => None,
            Self::Eight => Some(8),
            Self::Sixteen => Some(16),
        }
    }

    /// What asks a compiler for them, at the very beginning of a module.
    pub(crate) const fn extension(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Eight | Self::Sixteen => "enable wgpu_cooperative_matrix;",
        }
    }

    pub(crate) const fn source(self) -> &'static str {
        match self {
            Self::Plain => wgsl!("shared", "matrix_plain"),
            Self::Eight => wgsl!("shared", "matrix_8x8"),
            Self::Sixteen => wgsl!("shared", "matrix_16x16"),
        }
    }
}

/// What activations, their gradients and the weights that products read are stored as. Kernels compute in f32 always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stored {
    #[default]
    F32,
    /// Needs WebGPU's `shader-f16`.
    F16,
}

impl Stored {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::F32, Self::F16];

    /// Size of a number.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F16 => 2,
        }
    }

    /// The largest number.
    #[must_use]
    pub const fn largest(self) -> f32 {
        match self {
            Self::F32 => f32::MAX,
            Self::F16 => 65_504.0,
        }
    }

    /// Whether a device may have rounded `value` to `stored`: WGSL leaves open in which direction, and whether numbers
    /// below the smallest normal one become zero. What is too large has no rounding, so that any is right.
    #[must_use]
    pub fn is_rounding(self, value: f32, stored: f32) -> bool {
        let too_large = value.is_nan() || value.abs() > self.largest();
        too_large || (stored - value).abs() <= (value.abs() * self.unit()).max(self.smallest_normal())
    }

    /// Distance of two neighbouring numbers between 1 and 2.
    const fn unit(self) -> f32 {
        match self {
            Self::F32 => f32::EPSILON,
            Self::F16 => 1.0 / 1024.0,
        }
    }

    const fn smallest_normal(self) -> f32 {
        match self {
            Self::F32 => f32::MIN_POSITIVE,
            Self::F16 => 1.0 / 16_384.0,
        }
    }

    /// What says so at the beginning of a module.
    pub(crate) const fn source(self) -> &'static str {
        match self {
            Self::F32 => wgsl!("shared", "stored_f32"),
            Self::F16 => wgsl!("shared", "stored_f16"),
        }
    }
}
