use std::mem::offset_of;

use crate::params;

/// Access of a kernel to one of its storage buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    ReadWrite,
}

/// Source and bindings of a kernel.
///
/// Group 0 holds the parameter block (binding 0, uniform) and the storage buffers (bindings 1, 2, …);
/// group 1 holds the step (binding 0, uniform, dynamic offset). The entry point is `main`.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    pub name: &'static str,
    /// Parts of the source to concatenate: shared files, then the kernel's body. One body with different shared parts
    /// makes several kernels.
    pub sources: &'static [&'static str],
    pub params_bytes: usize,
    /// Offset of the [`params::Epilogue`] in the parameter block, for kernels with one.
    pub epilogue_offset: Option<usize>,
    /// Access of the storage buffers, from binding 1 on.
    pub storage: &'static [Access],
    /// Number of invocations per workgroup.
    pub workgroup_size: u32,
}

impl Kernel {
    /// Returns all forms. Only kernels that multiply blocks, which have f16 operands, have forms with matrices.
    pub fn forms(&self) -> Vec<Form> {
        if self.multiplies_blocks() {
            Matrices::ALL.map(Form::with_matrices).to_vec()
        } else {
            Stored::ALL.map(Form::from).to_vec()
        }
    }

    /// Returns the complete WGSL module for the target platform.
    pub fn source(&self, form: impl Into<Form>) -> String {
        let form = form.into();
        if cfg!(target_arch = "wasm32") { self.source_for_browsers(form) } else { self.joined(form) }
    }

    /// Returns the complete WGSL module for browsers, which require a directive for subgroups. Naga supports subgroups
    /// but not the directive yet.
    pub fn source_for_browsers(&self, form: impl Into<Form>) -> String {
        let extensions = if self.needs_subgroups() { "enable subgroups;\n" } else { "" };
        format!("{extensions}{}", self.joined(form.into()))
    }

    fn joined(&self, form: Form) -> String {
        // Directives must come first.
        let mut parts = vec![form.stored.source()];
        if self.multiplies_blocks() {
            let matrices = form.matrices.unwrap_or_default();
            parts.insert(0, if matrices == Matrices::Plain { "" } else { "enable wgpu_cooperative_matrix;" });
            parts.push(matrices.source());
        }
        parts.extend(self.sources);
        parts.join("\n")
    }

    /// Returns the kernel that computes the same in a workgroup of at most [`SMALL_WORKGROUP`] invocations: itself, if
    /// it is small enough or has no such variant.
    pub fn in_small_workgroups(&'static self) -> &'static Self {
        if self.workgroup_size <= SMALL_WORKGROUP {
            return self;
        }
        kernel(&format!("{}_{SMALL_WORKGROUP}", self.name)).unwrap_or(self)
    }

    /// Returns true if the kernel requires subgroups of at least eight lanes or, if it multiplies blocks, of at most
    /// 64.
    pub fn needs_subgroups(&self) -> bool {
        LANES.iter().any(|lanes| self.sources.contains(lanes)) || self.multiplies_blocks()
    }

    /// Returns true if its subgroups multiply f16 blocks with [`Matrices`].
    pub fn multiplies_blocks(&self) -> bool {
        self.sources.contains(&MATRIX_TILE)
    }

    /// Returns true if the kernel is compiled without bounds checks, which would noticeably slow its innermost loop: it
    /// reads workgroup memory there.
    pub fn runs_unchecked(&self) -> bool {
        self.sources.contains(&LARGE_TILE) || self.sources.contains(&ATTENTION_TILE) || self.multiplies_blocks()
    }
}

/// Variant of a kernel's source: the stored type and, if its subgroups multiply blocks, the method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    pub stored: Stored,
    pub matrices: Option<Matrices>,
}

impl Form {
    /// Returns the f16 form that multiplies blocks with `matrices`.
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

/// Method of multiplying the 16 × 16 blocks of a matrix tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matrices {
    /// Plain loops, for every device with subgroups and f16.
    #[default]
    Plain,
    /// Matrix units for 8 × 8 numbers, four per block. Needs wgpu's cooperative matrices of this shape.
    Eight,
    /// Matrix units for 16 × 16 numbers. Needs wgpu's cooperative matrices of this shape.
    Sixteen,
}

impl Matrices {
    /// All variants, simplest first.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Eight, Self::Sixteen];

    /// Returns the rows, columns and depth of one matrix unit's product; `None` without matrix units.
    #[must_use]
    pub const fn side(self) -> Option<u32> {
        match self {
            Self::Plain => None,
            Self::Eight => Some(8),
            Self::Sixteen => Some(16),
        }
    }

    const fn source(self) -> &'static str {
        match self {
            Self::Plain => wgsl!("shared", "matrix_plain"),
            Self::Eight => wgsl!("shared", "matrix_8x8"),
            Self::Sixteen => wgsl!("shared", "matrix_16x16"),
        }
    }
}

/// Stored type of activations, their gradients and the weights that products read. Kernels always compute in f32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stored {
    #[default]
    F32,
    /// Needs WebGPU's `shader-f16`.
    F16,
}

impl Stored {
    /// All variants, simplest first.
    pub const ALL: [Self; 2] = [Self::F32, Self::F16];

    /// Returns the size of a number in bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F16 => 2,
        }
    }

    /// Returns the largest finite number.
    #[must_use]
    pub const fn largest(self) -> f32 {
        match self {
            Self::F32 => f32::MAX,
            Self::F16 => 65_504.0,
        }
    }

    /// Returns true if a device may have rounded `value` to `stored`. WGSL specifies neither the direction nor the
    /// treatment of subnormal numbers. A value that is too large may become anything.
    #[must_use]
    pub fn is_rounding(self, value: f32, stored: f32) -> bool {
        // The distance between adjacent numbers from 1 to 2, and the smallest normal number.
        let (unit, smallest) = match self {
            Self::F32 => (f32::EPSILON, f32::MIN_POSITIVE),
            Self::F16 => (1.0 / 1024.0, 1.0 / 16_384.0),
        };
        let too_large = value.is_nan() || value.abs() > self.largest();
        too_large || (stored - value).abs() <= (value.abs() * unit).max(smallest)
    }

    /// Returns the declaration at the beginning of a module.
    const fn source(self) -> &'static str {
        match self {
            Self::F32 => wgsl!("shared", "stored_f32"),
            Self::F16 => wgsl!("shared", "stored_f16"),
        }
    }
}

const LARGE_TILE: &str = wgsl!("shared", "large_tile");
const ATTENTION_TILE: &str = wgsl!("shared", "attention_workgroup");
const LANES: [&str; 2] = [wgsl!("shared", "four_lanes"), wgsl!("shared/8", "eight_lanes")];
const MATRIX_TILE: &str = wgsl!("shared", "matrix_tile");

/// Invocations of a workgroup on every device, also in WebGPU's compatibility mode:
/// <https://gpuweb.github.io/gpuweb/#limits>.
pub const SMALL_WORKGROUP: u32 = 128;

pub fn kernel(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|k| k.name == name)
}

/// All kernels, as the build script found them in the headers of the WGSL files.
pub const KERNELS: &[Kernel] = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
