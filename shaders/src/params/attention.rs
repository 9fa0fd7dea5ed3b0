use bytemuck::{Pod, Zeroable};

use super::{Block, Epilogue, Field};

block! {
    /// `attention_forward`, `attention_query_gradient`, `attention_key_value_gradient`.
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
}

/// The largest head that the attention kernels have room for.
pub const LARGEST_HEAD: u32 = 64;
