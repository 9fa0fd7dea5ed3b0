use crate::Real;
use crate::params::{Softmax, Step, StepResult};

/// Twin of `softmax_cross_entropy.wgsl`: mean loss, count of right answers, and the logits' gradient.
///
/// `logits`, `gradient`: (B, stride); `labels`: (B). Rows from `step.count` on and padding get gradient zero.
/// Returns the loss in this precision, and what the kernel stores.
pub fn softmax_cross_entropy<T: Real>(
    params: &Softmax,
    step: &Step,
    logits: &[T],
    labels: &[u32],
    gradient: &mut [T],
) -> (T, StepResult) {
    let (classes, stride) = (params.classes as usize, params.stride as usize);
    let count = step.count.min(params.rows);
    let share = T::ONE / T::from_f64(f64::from(count + step.elsewhere));
    let weight = if params.summed == 1 { T::ONE } else { share };
    let scale = T::from_f64(f64::from(params.logits_scale));
    let gradient_scale = T::from_f64(f64::from(params.gradient_scale));
    let spread = T::from_f64(f64::from(params.label_smoothing));
    let each = spread / T::from_f64(f64::from(params.classes));
    let (mut loss, mut correct) = (T::ZERO, 0);
    gradient.fill(T::ZERO);
    for row in 0..count as usize {
        let logits: Vec<T> = logits[row * stride..row * stride + classes].iter().map(|&logit| scale * logit).collect();
        let label = labels[row] as usize;
        let largest = logits.iter().copied().fold(logits[0], T::maximum);
        let sum: T = logits.iter().map(|&logit| (logit - largest).exp()).sum();
        // The first of equal logits is the answer.
        let answer = logits.iter().position(|&logit| logit == largest);
        correct += u32::from(answer == Some(label));
        for (class, (gradient, &logit)) in gradient[row * stride..].iter_mut().zip(&logits).enumerate() {
            let probability = (logit - largest).exp() / sum;
            let target = if class == label { T::ONE - spread + each } else { each };
            loss += target * (sum.ln() + largest - logit) * share;
            *gradient = (probability - target) * weight * scale * gradient_scale;
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "the record keeps losses in float32")]
    let stored = StepResult { loss: loss.to_f64() as f32, correct, mark: step.mark };
    (loss, stored)
}
