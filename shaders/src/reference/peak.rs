use crate::Real;
use crate::params::{PEAK_FMAS, PeakFma, PeakStream};

/// Twin of `peak_fma_2.wgsl`, `peak_fma_4.wgsl` and `peak_fma_8.wgsl`, which have `chains` chains.
/// `result`: (invocations, 4).
pub fn peak_fma<T: Real>(params: &PeakFma, chains: u32, result: &mut [T]) {
    let (multiplier, addend) = (T::from_f64(params.multiplier.into()), T::from_f64(params.addend.into()));
    let rounds = params.iterations * PEAK_FMAS / 4 / chains;
    for (number, result) in (0..params.invocations).zip(result.chunks_exact_mut(4)) {
        for (lane, result) in (0u32..).zip(result) {
            *result = (0..chains)
                .map(|chain| {
                    let start = f64::from(number % 1024) / 1024.0 + 0.03 * f64::from(lane) + 0.1 * f64::from(chain);
                    (0..rounds).fold(T::from_f64(start), |x, _| x * multiplier + addend)
                })
                .sum();
        }
    }
}

/// Twin of `peak_copy.wgsl`. `x`, `y`: (quads, 4).
pub fn peak_copy<T: Real>(params: &PeakStream, x: &[T], y: &mut [T]) {
    let numbers = 4 * params.quads as usize;
    y[..numbers].copy_from_slice(&x[..numbers]);
}

/// Twin of `peak_read.wgsl`. `x`: (quads, 4); `sums`: (invocations, 4).
pub fn peak_read<T: Real>(params: &PeakStream, x: &[T], sums: &mut [T]) {
    let numbers = 4 * params.invocations as usize;
    for (at, sum) in sums[..numbers].iter_mut().enumerate() {
        *sum = x[..4 * params.quads as usize].iter().skip(at).step_by(numbers).copied().sum();
    }
}
