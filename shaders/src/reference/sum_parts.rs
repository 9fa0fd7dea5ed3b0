use crate::Real;
use crate::params::SumParts;

/// Twin of `sum_parts.wgsl`: `sum[i] = Σ parts[p, i]`, in the order of the parts.
///
/// `parts`: (parts, elements); `sum`: (elements).
pub fn sum_parts<T: Real>(params: &SumParts, parts: &[T], sum: &mut [T]) {
    sum.fill(T::ZERO);
    for part in parts.chunks_exact(params.elements as usize).take(params.parts as usize) {
        for (sum, &part) in sum.iter_mut().zip(part) {
            *sum += part;
        }
    }
}
