use crate::Real;
use crate::params::SumParts;

/// Twin of `sum_parts.wgsl`: `sum[i] = Σ parts[p, i]`, in the order of the parts, added to what is there where the
/// parameters say so.
///
/// `parts`: (parts, elements); `sum`: (elements).
pub fn sum_parts<T: Real>(params: &SumParts, parts: &[T], sum: &mut [T]) {
    let mut total = vec![T::ZERO; sum.len()];
    for part in parts.chunks_exact(params.elements as usize).take(params.parts as usize) {
        for (total, &part) in total.iter_mut().zip(part) {
            *total += part;
        }
    }
    for (sum, total) in sum.iter_mut().zip(total) {
        *sum = if params.accumulate == 1 { *sum + total } else { total };
    }
}
