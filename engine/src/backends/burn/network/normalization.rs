use burn_tensor::ops::AvgPoolOptions;
use burn_tensor::{Tensor, module};

use super::{Pass, Planned};
use crate::backends::burn::value::{Order, Value, sides};

impl Planned {
    /// `x / (bias + alpha·Σ x²)^beta`. Burn lacks it: the sum over neighbouring channels is the mean of a window.
    pub(super) fn local_response(&self, input: Value, radius: u32, [bias, alpha, beta]: [f32; 3]) -> Value {
        let image = input.channels_first(self.input);
        let dims = image.dims();
        let [rows, channels, height, width] = dims;
        let (radius, window) = (radius as usize, 2 * radius as usize + 1);
        let options = AvgPoolOptions::new([window, 1]).with_stride([1; 2]).with_padding([radius, 0]);
        let squares = image.clone().square().reshape([rows, 1, channels, height * width]);
        // Zeros beyond the first and last channel count, so that this is a share of the sum everywhere.
        let means = module::avg_pool2d(squares, options.with_count_include_pad(true)).reshape(dims);
        let excess = means * (alpha / bias * window as f32);
        let kept = image.clone() - image * taken_away(excess, beta);
        Value::ChannelsFirst(if bias == 1.0 { kept } else { kept * bias.powf(-beta) })
    }

    pub(super) fn batch_norm(&self, input: Value, epsilon: f32, keep: f32, pass: &mut Pass<'_>) -> Value {
        match self.order {
            Order::Flat => Value::Flat(self.normalized(input.flat(), epsilon, keep, pass)),
            _ => Value::ChannelsFirst(self.normalized(input.channels_first(self.input), epsilon, keep, pass)),
        }
    }

    /// In training, the running averages follow the mean and the unbiased variance of the batch.
    fn normalized<const D: usize>(&self, x: Tensor<D>, epsilon: f32, keep: f32, pass: &mut Pass<'_>) -> Tensor<D> {
        let [mean, variance] = [2, 3].map(|place| self.tensor + place);
        let [gamma, beta] = [0, 1].map(|place| pass.leaves.vector(self.tensor + place));
        let epsilon = f64::from(epsilon);
        let running = [mean, variance].map(|tensor| pass.leaves.plain(tensor));
        if !pass.is_training() {
            let [mean, variance] = running;
            return module::batch_norm(x, gamma, beta, mean, variance, epsilon);
        }
        let [_, channels, ..] = x.dims()[..] else { unreachable!("a batch has channels") };
        let values = x.dims().iter().product::<usize>() / channels;
        let unbiased = values as f32 / (values - 1).max(1) as f32;
        let made = module::batch_norm_train(x, gamma, beta, epsilon);
        let found = [made.mean.inner(), made.variance.inner() * unbiased];
        for ((tensor, running), found) in [mean, variance].into_iter().zip(running).zip(found) {
            pass.statistics.push((tensor, running * keep + found * (1.0 - keep)));
        }
        made.output
    }

    pub(super) fn layer_norm(&self, input: Value, epsilon: f32, pass: &mut Pass<'_>) -> Value {
        let [gamma, beta] = [0, 1].map(|place| pass.leaves.vector(self.tensor + place));
        let x = input.channels_last(self.input);
        Value::ChannelsLast(module::layer_norm(x, gamma, Some(beta), f64::from(epsilon)))
    }

    pub(super) fn position(&self, input: Value, pass: &mut Pass<'_>) -> Value {
        let [height, width, channels] = sides(self.input);
        let learned = pass.leaves.matrix(self.tensor, [height * width, channels]);
        Value::ChannelsLast(input.channels_last(self.input) + learned.unsqueeze())
    }
}

/// `1 - (1 + excess)^-beta`. What is taken away from a value is mostly small, and has to be known to as many digits as
/// the value itself: a power would lose them.
fn taken_away(excess: Tensor<4>, beta: f32) -> Tensor<4> {
    if beta != 0.75 {
        return (excess.log1p() * -beta).exp().neg() + 1.0;
    }
    // The usual 3/4 is two square roots, each less 1.
    let root = (excess.clone() + 1.0).sqrt();
    let first = excess / (root.clone() + 1.0);
    let second = first.clone() / (root.sqrt() + 1.0);
    let more = first.clone() + second.clone() + first * second;
    more.clone() / (more + 1.0)
}
