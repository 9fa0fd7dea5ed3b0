//! What the three passes of a layer with weights read and write: the kernels of all such layers take the same buffers
//! in the same order.

use bytemuck::Pod;
use results::kernels::Pass;

use super::super::products;
use super::super::variants::Variant;
use super::operands::Operand;
use super::work::Work;

/// A layer y = x ∘ weights + bias, where ∘ is a matrix product or a convolution.
pub(super) struct Layer<P> {
    /// Samples of a batch.
    pub(super) rows: u32,
    pub(super) x: Operand,
    pub(super) weights: Operand,
    pub(super) dy: Operand,
    /// Parts that the gradient of the weights is summed in.
    pub(super) parts: u32,
    /// Elements of each: weights and biases.
    pub(super) part_stride: u32,
    /// True on a GPU that a CPU emulates, which adds them up differently.
    pub(super) emulated: bool,
    pub(super) params: P,
}

impl<P: Pod> Layer<P> {
    /// Elements of each buffer.
    pub(super) fn buffers(&self, pass: Pass) -> Vec<u64> {
        let (x, weights, dy) = (self.x.elements(), self.weights.elements(), self.dy.elements());
        let part = u64::from(self.part_stride);
        match pass {
            Pass::Forward => vec![x, weights, u64::from(self.dy.columns), dy],
            Pass::WeightGradient if self.parts > 1 => vec![x, dy, u64::from(self.parts) * part, part],
            Pass::WeightGradient => vec![x, dy, part],
            Pass::InputGradient => vec![dy, weights, x, x],
        }
    }

    /// Elements of the result.
    pub(super) fn results(&self, pass: Pass) -> u64 {
        match pass {
            Pass::Forward => self.dy.elements(),
            Pass::WeightGradient => self.weights.elements(),
            Pass::InputGradient => self.x.elements(),
        }
    }

    /// One pass with this variant of its kernel.
    pub(super) fn work(&self, pass: Pass, variant: &Variant, product: &products::Product) -> Work {
        let mut work = Work::new(self.rows);
        match pass {
            Pass::Forward => {
                let x = work.floats("x", &self.x.numbers());
                let weights = work.floats("weights", &self.weights.numbers());
                let bias = work.zeros("bias", u64::from(self.dy.columns));
                let y = work.zeros("y", self.dy.elements());
                work.repeat_variant(variant, product, &self.params, &[x, weights, bias, y]);
                work.output = Some(y);
            }
            Pass::WeightGradient => {
                let x = work.floats("x", &self.x.numbers());
                let dy = work.floats("dy", &self.dy.numbers());
                let elements = u64::from(self.parts) * u64::from(self.part_stride);
                let partial = work.zeros("gradient parts", elements);
                work.repeat_variant(variant, product, &self.params, &[x, dy, partial]);
                work.output = Some(work.sum(partial, self.parts, self.part_stride, self.emulated));
            }
            Pass::InputGradient => {
                let dy = work.floats("dy", &self.dy.numbers());
                let weights = work.floats("weights", &self.weights.numbers());
                let x = work.floats("x", &self.x.numbers());
                let dx = work.zeros("dx", self.x.elements());
                work.repeat_variant(variant, product, &self.params, &[dy, weights, x, dx]);
                work.output = Some(dx);
            }
        }
        work
    }
}
