use crate::params::{self, Field};

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
    /// File name of the body, without folder and extension. Differs from the kernel's name if one file with different
    /// shared parts makes several kernels.
    pub file: &'static str,
    /// Parts of the source to concatenate: shared files, then the kernel's body.
    pub sources: &'static [&'static str],
    pub params_bytes: usize,
    pub params: &'static [Field],
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
            parts.insert(0, matrices.extension());
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
        self.sources.contains(&SUBGROUP_TILE) || self.multiplies_blocks()
    }

    /// Returns true if its subgroups multiply f16 blocks with [`Matrices`].
    pub fn multiplies_blocks(&self) -> bool {
        self.sources.contains(&MATRIX_TILE)
    }

    /// Returns true if the kernel is compiled without bounds checks, which would noticeably slow its innermost loop: it
    /// reads workgroup memory there.
    pub fn runs_unchecked(&self) -> bool {
        self.sources.contains(&LARGE_TILE) || self.multiplies_blocks()
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

    /// Returns the directive at the beginning of a module that enables the matrix units.
    const fn extension(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Eight | Self::Sixteen => "enable wgpu_cooperative_matrix;",
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
        let too_large = value.is_nan() || value.abs() > self.largest();
        too_large || (stored - value).abs() <= (value.abs() * self.unit()).max(self.smallest_normal())
    }

    /// Returns the distance between adjacent numbers from 1 to 2.
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

    /// Returns the declaration at the beginning of a module.
    const fn source(self) -> &'static str {
        match self {
            Self::F32 => wgsl!("shared", "stored_f32"),
            Self::F16 => wgsl!("shared", "stored_f16"),
        }
    }
}

/// Shared part of kernels with large workgroup tiles.
const LARGE_TILE: &str = wgsl!("shared", "large_tile");

/// Shared part of kernels that use subgroups.
const SUBGROUP_TILE: &str = wgsl!("shared", "subgroup_tile");

/// Shared part of kernels with subgroup block products.
const MATRIX_TILE: &str = wgsl!("shared", "matrix_tile");

/// Invocations of a workgroup on every device, also in WebGPU's compatibility mode:
/// <https://gpuweb.github.io/gpuweb/#limits>.
pub const SMALL_WORKGROUP: u32 = 128;

pub fn kernel(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|k| k.name == name)
}

/// Expands to the file of a kernel: the one after `from`, or by default the kernel's name.
macro_rules! kernel_file {
    ($name:literal) => {
        $name
    };
    ($name:literal, $file:literal) => {
        $file
    };
}

/// Builds the registry from its lines.
macro_rules! kernels {
    ($(
        $name:literal $(from $file:literal)?, $params:ident, $workgroup_size:literal,
        [$($shared:literal),*], [$($access:ident),*];
    )*) => {
        &[$(Kernel {
            name: $name,
            file: kernel_file!($name $(, $file)?),
            sources: &[
                $(wgsl!("shared", $shared),)*
                wgsl!("kernels", kernel_file!($name $(, $file)?)),
            ],
            params_bytes: size_of::<params::$params>(),
            params: params::$params::FIELDS,
            storage: &[$(Access::$access),*],
            workgroup_size: $workgroup_size,
        },)*]
    };
}

/// All kernels: name (with `from` and the file if it has another name), parameter block, workgroup size, shared parts,
/// storage buffers.
#[rustfmt::skip]
pub const KERNELS: &[Kernel] = kernels![
    "gather", Gather, 64, ["step", "invocation"], [Read, Read, Read, Read, ReadWrite, ReadWrite];
    "dense_forward", Dense, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "tile"], [Read, Read, Read, ReadWrite];
    "dense_input_gradient", Dense, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "tile", "store_gradient"], [Read, Read, Read, ReadWrite];
    "dense_weight_gradient", Dense, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "tile", "no_bias"], [Read, Read, ReadWrite];
    "conv2d_forward", Conv2d, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_window", "tile"], [Read, Read, Read, ReadWrite];
    "conv2d_forward_narrow", Conv2d, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_window", "tile"], [Read, Read, Read, ReadWrite];
    "conv2d_input_gradient", Conv2d, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_transposed_window", "tile", "store_gradient"], [Read, Read, Read, ReadWrite];
    "conv2d_weight_gradient", Conv2d, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "tile", "no_bias"], [Read, Read, ReadWrite];
    "conv2d_weight_gradient_narrow", Conv2d, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "tile", "no_bias"], [Read, Read, ReadWrite];
    "max_pool_forward", Pool, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "pool_params", "pool_window"], [Read, ReadWrite, ReadWrite];
    "max_pool_backward", Pool, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "pool_params", "pool_window", "store_gradient"], [Read, Read, Read, ReadWrite];
    "average_pool_forward", Pool, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "pool_params", "pool_window"], [Read, ReadWrite];
    "average_pool_backward", Pool, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "pool_params", "pool_window", "store_gradient"], [Read, Read, ReadWrite];
    "softmax_cross_entropy", Softmax, 256, ["step", "workgroup_256"], [Read, Read, ReadWrite, ReadWrite];
    "softmax_cross_entropy_128" from "softmax_cross_entropy", Softmax, 128, ["step", "workgroup_128"], [Read, Read, ReadWrite, ReadWrite];
    "sum_parts", SumParts, 64, ["step", "invocation", "sum_parts_params"], [Read, ReadWrite];
    "sum_many_parts", SumParts, 256, ["step", "workgroup_number", "workgroup_256", "sum_parts_params"], [Read, ReadWrite];
    "sum_many_parts_128" from "sum_many_parts", SumParts, 128, ["step", "workgroup_number", "workgroup_128", "sum_parts_params"], [Read, ReadWrite];
    "limit_gradients", GradientLimit, 256, ["step", "workgroup_256"], [Read, ReadWrite];
    "limit_gradients_128" from "limit_gradients", GradientLimit, 128, ["step", "workgroup_128"], [Read, ReadWrite];
    "sgd", Optimizer, 64, ["step", "invocation", "optimizer_params"], [Read, Read, ReadWrite, ReadWrite];
    "rmsprop", Optimizer, 64, ["step", "invocation", "optimizer_params"], [Read, Read, ReadWrite, ReadWrite];
    "adadelta", Optimizer, 64, ["step", "invocation", "optimizer_params"], [Read, Read, ReadWrite, ReadWrite, ReadWrite];
    "adam", Optimizer, 64, ["step", "invocation", "optimizer_params", "adam_direction"], [Read, Read, ReadWrite, ReadWrite, ReadWrite];
    "adamw", Optimizer, 64, ["step", "invocation", "optimizer_params", "adam_direction"], [Read, Read, ReadWrite, ReadWrite, ReadWrite];
    "average", Optimizer, 64, ["step", "invocation", "optimizer_params"], [ReadWrite, ReadWrite];
    "gather_augmented", GatherAugmented, 64, ["step", "invocation", "pcg4d"], [Read, Read, Read, Read, Read, ReadWrite, ReadWrite];
    "shuffle", Shuffle, 64, ["step", "invocation", "pcg4d"], [ReadWrite];
    "mirror_order", MirrorOrder, 64, ["step", "invocation", "pcg4d"], [ReadWrite];
    "standardize", Standardize, 64, ["step", "pcg4d"], [ReadWrite];
    "local_contrast", LocalContrast, 256, ["step", "workgroup_256"], [ReadWrite];
    "local_contrast_128" from "local_contrast", LocalContrast, 128, ["step", "workgroup_128"], [ReadWrite];
    "peak_fma_2", PeakFma, 64, ["step", "invocation", "peak_fma"], [ReadWrite];
    "peak_fma_4", PeakFma, 64, ["step", "invocation", "peak_fma"], [ReadWrite];
    "peak_fma_8", PeakFma, 64, ["step", "invocation", "peak_fma"], [ReadWrite];
    "peak_copy", PeakStream, 64, ["step", "invocation", "peak_stream_params"], [Read, ReadWrite];
    "peak_read", PeakStream, 64, ["step", "invocation", "peak_stream_params"], [Read, ReadWrite];
    "local_response_forward", LocalResponse, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "local_response"], [Read, ReadWrite];
    "local_response_backward", LocalResponse, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "local_response", "store_gradient"], [Read, Read, ReadWrite];
    "batch_norm_statistics", BatchNorm, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "batch_norm_params"], [Read, ReadWrite];
    "batch_norm_finish", BatchNorm, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "batch_norm_params"], [Read, ReadWrite, ReadWrite];
    "batch_norm_forward", BatchNorm, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "batch_norm_params", "gelu", "batch_norm_value"], [Read, Read, Read, Read, ReadWrite];
    "batch_norm_gradient_sums", BatchNorm, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "batch_norm_params", "gelu", "batch_norm_value"], [Read, Read, Read, Read, Read, ReadWrite];
    "batch_norm_input_gradient", BatchNorm, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "batch_norm_params", "gelu", "batch_norm_value", "store_gradient"], [Read, Read, Read, Read, Read, Read, ReadWrite];
    "gelu_forward", Elementwise, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "elementwise_params", "gelu"], [Read, ReadWrite];
    "gelu_backward", Elementwise, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "elementwise_params", "gelu", "store_gradient"], [Read, Read, ReadWrite];
    "pass_gradient", Elementwise, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "elementwise_params", "store_gradient"], [Read, Read, ReadWrite];
    "position_forward", Position, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "position_params"], [Read, Read, ReadWrite];
    "position_gradient", Position, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "position_params"], [Read, ReadWrite];
    "layer_norm_forward", LayerNorm, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "channels", "layer_norm"], [Read, Read, Read, ReadWrite, ReadWrite];
    "layer_norm_input_gradient", LayerNorm, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "channels", "layer_norm", "store_gradient"], [Read, Read, Read, Read, ReadWrite];
    "layer_norm_weight_gradient", LayerNorm, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "channels", "layer_norm"], [Read, Read, Read, ReadWrite];
    "attention_forward", Attention, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "attention"], [Read, ReadWrite, ReadWrite];
    "attention_query_gradient", Attention, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "attention", "store_gradient"], [Read, Read, Read, Read, ReadWrite, ReadWrite];
    "attention_key_value_gradient", Attention, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "attention", "store_gradient"], [Read, Read, Read, Read, ReadWrite];
    "lstm_forward", Recurrent, 64, ["step", "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params", "recurrent_state", "recurrent_forward", "tile"], [Read, ReadWrite, ReadWrite, ReadWrite, ReadWrite];
    "lstm_backward", Recurrent, 64, ["step", "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params", "recurrent_backward", "tile"], [Read, Read, ReadWrite, ReadWrite];
    "gru_forward", Recurrent, 64, ["step", "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params", "recurrent_state", "recurrent_forward", "tile", "half_tile"], [Read, Read, ReadWrite, ReadWrite, ReadWrite, ReadWrite];
    "gru_backward", Recurrent, 64, ["step", "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params", "recurrent_backward", "tile"], [Read, Read, Read, ReadWrite, ReadWrite, ReadWrite];
    "simple_rnn_forward", Recurrent, 64, ["step", "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params", "recurrent_state", "recurrent_forward", "tile"], [Read, ReadWrite, ReadWrite, ReadWrite];
    "simple_rnn_backward", Recurrent, 64, ["step", "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params", "recurrent_backward", "tile"], [Read, Read, ReadWrite];
    "embedding_forward", Embedding, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "embedding_params"], [Read, Read, ReadWrite];
    "embedding_weight_gradient", Embedding, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "embedding_params"], [Read, Read, ReadWrite];
    "add_forward", Add, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "add_params"], [Read, Read, ReadWrite];
    "add_gradient", Add, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "add_params", "store_gradient"], [Read, Read, ReadWrite];
    "sentence_sum_forward", SentenceSum, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "sentence_sum"], [Read, ReadWrite];
    "sentence_sum_gradient", SentenceSum, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "sentence_sum", "store_gradient"], [Read, Read, ReadWrite];
    "pixel_products_forward", PixelProducts, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "channels", "pixel_products_params"], [Read, Read, ReadWrite];
    "pixel_products_gradient", PixelProducts, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "pixel_products_params", "store_gradient"], [Read, Read, Read, ReadWrite];
    "channel_softmax_forward", ChannelSoftmax, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "channels", "channel_softmax_params"], [Read, ReadWrite];
    "channel_softmax_backward", ChannelSoftmax, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "channels", "channel_softmax_params", "store_gradient"], [Read, Read, ReadWrite];
    "transpose_forward", Transpose, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "transpose_params"], [Read, ReadWrite];
    "transpose_gradient", Transpose, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "transpose_params", "store_gradient"], [Read, Read, ReadWrite];
    "concatenate_forward", Concatenate, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "concatenate_params"], [Read, Read, ReadWrite];
    "concatenate_gradient", Concatenate, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "concatenate_params", "store_gradient"], [Read, Read, ReadWrite];
    "blend", Blend, 64, ["step", "invocation"], [Read, ReadWrite];
    "dense_forward_subgroup", Dense, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "subgroup_tile"], [Read, Read, Read, ReadWrite];
    "dense_input_gradient_subgroup", Dense, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "subgroup_tile", "store_gradient"], [Read, Read, Read, ReadWrite];
    "dense_weight_gradient_subgroup", Dense, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "subgroup_tile", "no_bias"], [Read, Read, ReadWrite];
    "dense_forward_thin", Dense, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "subgroup_tile"], [Read, Read, Read, ReadWrite];
    "dense_input_gradient_thin", Dense, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "subgroup_tile", "store_gradient"], [Read, Read, Read, ReadWrite];
    "conv2d_forward_subgroup", Conv2d, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_window", "workgroup_number", "subgroup_tile"], [Read, Read, Read, ReadWrite];
    "conv2d_input_gradient_subgroup", Conv2d, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_transposed_window", "workgroup_number", "subgroup_tile", "store_gradient"], [Read, Read, Read, ReadWrite];
    "conv2d_weight_gradient_subgroup", Conv2d, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "workgroup_number", "subgroup_tile", "no_bias"], [Read, Read, ReadWrite];
    "dense_forward_shared", Dense, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "tile", "workgroup_number", "workgroup_tile"], [Read, Read, Read, ReadWrite];
    "dense_input_gradient_shared", Dense, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "tile", "workgroup_number", "workgroup_tile", "store_gradient"], [Read, Read, Read, ReadWrite];
    "dense_weight_gradient_shared", Dense, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "tile", "workgroup_number", "workgroup_tile", "no_bias"], [Read, Read, ReadWrite];
    "dense_forward_sliced", Dense, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "sliced_tile"], [Read, Read, Read, ReadWrite];
    "dense_input_gradient_sliced", Dense, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "sliced_tile", "store_gradient"], [Read, Read, Read, ReadWrite];
    "conv2d_forward_shared", Conv2d, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_window", "tile", "workgroup_number", "workgroup_tile"], [Read, Read, Read, ReadWrite];
    "conv2d_input_gradient_shared", Conv2d, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_transposed_window", "tile", "workgroup_number", "workgroup_tile", "store_gradient"], [Read, Read, Read, ReadWrite];
    "conv2d_weight_gradient_shared", Conv2d, 64, ["step", "invocation", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_window", "tile", "workgroup_number", "workgroup_tile", "no_bias"], [Read, Read, ReadWrite];
    "dense_forward_large", Dense, 128, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "tile", "large_tile"], [Read, Read, Read, ReadWrite];
    "dense_forward_matrix" from "dense_forward_large", Dense, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "matrix_tile", "matrix_small"], [Read, Read, Read, ReadWrite];
    "dense_forward_matrix_large" from "dense_forward_large", Dense, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "matrix_tile", "matrix_large"], [Read, Read, Read, ReadWrite];
    "dense_input_gradient_large", Dense, 128, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "tile", "large_tile", "store_gradient"], [Read, Read, Read, ReadWrite];
    "dense_input_gradient_matrix" from "dense_input_gradient_large", Dense, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "matrix_tile", "matrix_small", "store_gradient"], [Read, Read, Read, ReadWrite];
    "dense_input_gradient_matrix_large" from "dense_input_gradient_large", Dense, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "matrix_tile", "matrix_large", "store_gradient"], [Read, Read, Read, ReadWrite];
    "dense_weight_gradient_large", Dense, 128, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "tile", "large_tile", "column_sum", "no_bias"], [Read, Read, ReadWrite];
    "dense_weight_gradient_matrix" from "dense_weight_gradient_large", Dense, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "matrix_tile", "matrix_small", "matrix_column_sum", "no_bias"], [Read, Read, ReadWrite];
    "dense_weight_gradient_matrix_large" from "dense_weight_gradient_large", Dense, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "dense_params", "workgroup_number", "matrix_tile", "matrix_large", "matrix_column_sum", "no_bias"], [Read, Read, ReadWrite];
    "conv2d_forward_large", Conv2d, 128, ["step", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_window", "digits", "workgroup_number", "tile", "large_tile"], [Read, Read, Read, ReadWrite];
    "conv2d_forward_matrix" from "conv2d_forward_large", Conv2d, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_window", "digits", "workgroup_number", "matrix_tile", "matrix_small"], [Read, Read, Read, ReadWrite];
    "conv2d_forward_matrix_large" from "conv2d_forward_large", Conv2d, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_window", "digits", "workgroup_number", "matrix_tile", "matrix_large"], [Read, Read, Read, ReadWrite];
    "conv2d_input_gradient_large", Conv2d, 128, ["step", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_transposed_window", "digits", "workgroup_number", "tile", "large_tile", "store_gradient"], [Read, Read, Read, ReadWrite];
    "conv2d_input_gradient_matrix" from "conv2d_input_gradient_large", Conv2d, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_transposed_window", "digits", "workgroup_number", "matrix_tile", "matrix_small", "store_gradient"], [Read, Read, Read, ReadWrite];
    "conv2d_input_gradient_matrix_large" from "conv2d_input_gradient_large", Conv2d, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "conv2d_transposed_window", "digits", "workgroup_number", "matrix_tile", "matrix_large", "store_gradient"], [Read, Read, Read, ReadWrite];
    "conv2d_weight_gradient_large", Conv2d, 128, ["step", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "digits", "workgroup_number", "tile", "large_tile", "column_sum", "no_bias"], [Read, Read, ReadWrite];
    "conv2d_weight_gradient_matrix" from "conv2d_weight_gradient_large", Conv2d, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "digits", "workgroup_number", "matrix_tile", "matrix_small", "matrix_column_sum", "no_bias"], [Read, Read, ReadWrite];
    "conv2d_weight_gradient_matrix_large" from "conv2d_weight_gradient_large", Conv2d, 256, ["step", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params", "digits", "workgroup_number", "matrix_tile", "matrix_large", "matrix_column_sum", "no_bias"], [Read, Read, ReadWrite];
    "round_weights", RoundWeights, 64, ["step", "invocation"], [Read, ReadWrite, ReadWrite];
    "lstm_forward_subgroup", Recurrent, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params", "recurrent_state", "subgroup_tile", "recurrent_forward_subgroup"], [Read, ReadWrite, ReadWrite, ReadWrite, ReadWrite];
    "lstm_backward_subgroup" from "lstm_backward", Recurrent, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params", "subgroup_tile", "recurrent_backward_subgroup"], [Read, Read, ReadWrite, ReadWrite];
    "gru_forward_subgroup", Recurrent, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params", "recurrent_state", "subgroup_tile", "recurrent_forward_subgroup"], [Read, Read, ReadWrite, ReadWrite, ReadWrite, ReadWrite];
    "gru_backward_subgroup" from "gru_backward", Recurrent, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params", "subgroup_tile", "recurrent_backward_subgroup"], [Read, Read, Read, ReadWrite, ReadWrite, ReadWrite];
    "simple_rnn_forward_subgroup", Recurrent, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params", "recurrent_state", "subgroup_tile", "recurrent_forward_subgroup"], [Read, ReadWrite, ReadWrite, ReadWrite];
    "simple_rnn_backward_subgroup" from "simple_rnn_backward", Recurrent, 8, ["step", "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params", "subgroup_tile", "recurrent_backward_subgroup"], [Read, Read, ReadWrite];
];
