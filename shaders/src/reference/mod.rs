//! The plain twins: slow, obviously right, in single or double precision.
//!
//! Each has the name, the parameters and the layouts of its kernel, and is the judge of it.

mod add;
mod blend;
mod channel_softmax;
mod concatenate;
mod conv2d;
mod dense;
mod dot;
mod embedding;
mod epilogue;
mod gather;
mod gather_augmented;
mod gru;
mod limit_gradients;
mod local_contrast;
mod lstm;
mod mirror_order;
mod optimizers;
pub mod pcg4d;
mod peak;
mod pixel_products;
mod pool;
mod recurrent;
mod round_weights;
mod sentence_sum;
mod shuffle;
mod simple_rnn;
mod softmax;
mod standardize;
mod sum_parts;
mod transpose;

mod attention;
mod batch_norm;
#[cfg(test)]
mod finite_differences;
mod gelu;
mod layer_norm;
mod local_response;
mod position;

pub use add::{add_forward, add_gradient};
pub use blend::blend;
pub use channel_softmax::{channel_softmax_backward, channel_softmax_forward};
pub use concatenate::{concatenate_forward, concatenate_gradient};
pub use conv2d::{conv2d_forward, conv2d_input_gradient, conv2d_weight_gradient};
pub use dense::{dense_forward, dense_input_gradient, dense_weight_gradient};
pub use embedding::{embedding_forward, embedding_weight_gradient};
pub use epilogue::{apply_epilogue, store_gradient};
pub use gather::gather;
pub use gather_augmented::gather_augmented;
pub use gru::{GruSteps, gru_backward, gru_forward};
pub use limit_gradients::gradient_factor;
pub use local_contrast::local_contrast;
pub use lstm::{lstm_backward, lstm_forward};
pub use mirror_order::mirror_order;
pub use optimizers::{Block, Update, adadelta, adam, adamw, average, rmsprop, sgd};
pub use peak::{peak_copy, peak_fma, peak_read};
pub use pixel_products::{pixel_products_forward, pixel_products_gradient};
pub use pool::{average_pool_backward, average_pool_forward, max_pool_backward, max_pool_forward};
pub use round_weights::round_weights;
pub use sentence_sum::{sentence_sum_forward, sentence_sum_gradient};
pub use shuffle::shuffle;
pub use simple_rnn::{simple_rnn_backward, simple_rnn_forward};
pub use softmax::softmax_cross_entropy;
pub use standardize::standardize;
pub use sum_parts::sum_parts;
pub use transpose::{transpose_forward, transpose_gradient};

pub use attention::{Attended, attention_forward, attention_key_value_gradient, attention_query_gradient};
pub use batch_norm::{
    Normalizer, batch_norm_finish, batch_norm_forward, batch_norm_gradient_sums, batch_norm_input_gradient,
    batch_norm_statistics,
};
pub use gelu::{gelu_backward, gelu_forward};
pub use layer_norm::{layer_norm_forward, layer_norm_input_gradient, layer_norm_weight_gradient};
pub use local_response::{local_response_backward, local_response_forward};
pub use position::{pass_gradient, position_forward, position_gradient};
