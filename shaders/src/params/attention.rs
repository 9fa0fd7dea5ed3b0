use bytemuck::{Pod, Zeroable};

use super::Epilogue;

/// `gelu_forward`, `gelu_backward`, `pass_gradient`: each value for itself.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Elementwise {
    /// Stored values of the whole batch, a multiple of 4.
    pub elements: u32,
    pub reserved: [u32; 3],
    /// Forward: of this layer. Backward: of the layer below, which made `x`.
    pub epilogue: Epilogue,
}

/// `position_forward`, `position_gradient`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Position {
    pub rows: u32,
    /// Stored values of a row, positions times channels, a multiple of 4.
    pub values: u32,
    /// Rows of the batch that one part of the gradient sums.
    pub rows_per_part: u32,
    /// Elements from one part of the gradient to the next.
    pub part_stride: u32,
    /// Forward: of this layer.
    pub epilogue: Epilogue,
}

/// `attention_forward`, `attention_query_gradient`, `attention_key_value_gradient`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Attention {
    pub rows: u32,
    /// Tokens of a row, T.
    pub tokens: u32,
    pub heads: u32,
    /// Values of a head, D, a multiple of 4, at most [`LARGEST_HEAD`].
    pub head_size: u32,
    /// What a query's product with a key is multiplied by, 1/√D as a rule.
    pub scale: f32,
    pub reserved: [u32; 3],
    /// Backward only: of the layer below, which made queries, keys and values. The result itself has none, because
    /// its gradient needs it as it is.
    pub epilogue: Epilogue,
}

/// The largest head that the attention kernels have room for.
pub const LARGEST_HEAD: u32 = 64;
