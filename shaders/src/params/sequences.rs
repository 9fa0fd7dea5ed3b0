//! Parameter blocks of recurrent layers and embeddings.

use bytemuck::{Pod, Zeroable};

use super::{Block, Epilogue, Field};

block! {
    /// `lstm_forward`, `gru_forward`, `simple_rnn_forward`, their backward passes and all variants.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Recurrent {
        /// Sequences of the whole batch, N: samples times the sequences of a sample.
        pub sequences: u32,
        /// Steps of a sequence, T.
        pub steps: u32,
        /// Units that the network knows of.
        pub units: u32,
        /// Units as stored, S, a multiple of 4.
        pub stored_units: u32,
        /// What makes a hidden state, or a candidate for one: [`activation::RELU`](super::activation::RELU) or
        /// [`activation::TANH`](super::activation::TANH). LSTMs have the latter and do not look.
        pub activation: u32,
        pub reserved: [u32; 3],
        /// Forward only: of the last hidden state.
        pub epilogue: Epilogue,
    }
}

block! {
    /// `embedding_forward`, `embedding_weight_gradient`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Embedding {
        /// Samples of the batch, B.
        pub rows: u32,
        /// Word numbers of a row that are used, P.
        pub tokens: u32,
        /// Values of a row of `ids`.
        pub id_stride: u32,
        /// First of the used values of a row.
        pub id_offset: u32,
        /// Words, V; every word number is below it.
        pub vocabulary: u32,
        /// Stored values of a word's vector, S, a multiple of 4.
        pub channels: u32,
        /// Word numbers (over the whole batch) that one part of a weight gradient sums.
        pub tokens_per_part: u32,
        /// Elements from one part of the gradients to the next.
        pub part_stride: u32,
        /// 1 where word 0 is padding: it has a vector of zeros, which is not trained.
        pub zero_padding: u32,
        pub reserved: [u32; 3],
        /// Forward only: of this layer.
        pub epilogue: Epilogue,
    }
}
