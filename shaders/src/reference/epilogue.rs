//! The end of layers: activation and dropout, and their slopes.

use super::pcg4d::uniform;
use crate::Real;
use crate::params::{Epilogue, Step, activation};

/// Returns true if the value stored at `at` survives the dropout. Random numbers are counted without padding.
fn survives(at: u32, epilogue: &Epilogue, step: &Step) -> bool {
    let place = (at / epilogue.stored_channels).wrapping_mul(epilogue.channels) + at % epilogue.stored_channels;
    let index = step.first_row.wrapping_mul(epilogue.features).wrapping_add(place);
    uniform(index, epilogue.dropout_stream, step.step, step.seed) >= epilogue.dropout_rate
}

pub(super) fn activate<T: Real>(activation: u32, value: T) -> T {
    match activation {
        activation::RELU => value.maximum(T::ZERO),
        activation::TANH => value.tanh(),
        activation::GELU => gelu(value),
        _ => value,
    }
}

/// Factor that dropout multiplies survivors by.
fn scale<T: Real>(epilogue: &Epilogue) -> T {
    T::ONE / (T::ONE - T::from_f64(f64::from(epilogue.dropout_rate)))
}

/// Twin of `shared/epilogue.wgsl`: activation, then inverted dropout, of the value that is stored at `at`.
pub fn apply_epilogue<T: Real>(value: T, at: u32, epilogue: &Epilogue, step: &Step) -> T {
    let value = activate(epilogue.activation, value);
    if epilogue.dropout_stream == 0 || step.training == 0 {
        return value;
    }
    if survives(at, epilogue, step) { value * scale(epilogue) } else { T::ZERO }
}

pub(super) fn finish<T: Real>(epilogue: &Epilogue, step: &Step, values: &mut [T]) {
    for (at, value) in (0u32..).zip(values) {
        *value = apply_epilogue(*value, at, epilogue, step);
    }
}

/// Slope of the epilogue at its result `output`, stored at `at`: dropped values let nothing through.
fn slope<T: Real>(output: T, at: u32, epilogue: &Epilogue, step: &Step) -> T {
    let drops = epilogue.dropout_stream != 0;
    if drops && !survives(at, epilogue, step) {
        return T::ZERO;
    }
    let scale = if drops { scale(epilogue) } else { T::ONE };
    match epilogue.activation {
        activation::RELU if output <= T::ZERO => T::ZERO,
        activation::TANH => {
            let value = output / scale;
            scale * (T::ONE - value * value)
        }
        _ => scale,
    }
}

/// Finishes the gradient of a value `x` that `epilogue` made: `dx = sum ⊙ slope(x)`, added to what `dx` held where
/// the epilogue says so.
///
/// `sum`, `x`, `dx`: equal numbers of values, in the stored layout of the whole batch.
pub fn store_gradient<T: Real>(sum: &[T], x: &[T], epilogue: &Epilogue, step: &Step, dx: &mut [T]) {
    for (at, ((dx, &x), &sum)) in (0u32..).zip(dx.iter_mut().zip(x).zip(sum)) {
        let gradient = sum * slope(x, at, epilogue, step);
        *dx = if epilogue.accumulate == 1 { *dx + gradient } else { gradient };
    }
}

/// `erf(x)`, from a series whose terms are all of one sign, so that nothing cancels:
/// `2/√π·exp(-x²)·Σ 2ⁿ·x²ⁿ⁺¹ / (1·3·5·…·(2n+1))`.
///
/// Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, formula 7.1.6.
fn error_function<T: Real>(x: T) -> T {
    let real = T::from_f64;
    // Beyond six the difference to one is smaller than double precision can tell.
    if x > real(6.0) {
        return T::ONE;
    }
    if x < real(-6.0) {
        return T::ZERO - T::ONE;
    }
    let (mut term, mut sum) = (x, x);
    // At six it takes 96 terms until they no longer change the sum.
    for n in 1..=100 {
        term *= real(2.0) * x * x / real(f64::from(2 * n + 1));
        let before = sum;
        sum += term;
        if sum == before {
            break;
        }
    }
    real(std::f64::consts::FRAC_2_SQRT_PI) * (T::ZERO - x * x).exp() * sum
}

/// The normal distribution's `Φ(x)`.
fn normal_distribution<T: Real>(x: T) -> T {
    T::from_f64(0.5) * (T::ONE + error_function(x * T::from_f64(std::f64::consts::FRAC_1_SQRT_2)))
}

/// `x·Φ(x)`. Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
pub(super) fn gelu<T: Real>(x: T) -> T {
    x * normal_distribution(x)
}

/// Slope of [`gelu`] at its argument: `Φ(x) + x·φ(x)`, φ the normal density.
pub(super) fn gelu_slope<T: Real>(x: T) -> T {
    let half = T::from_f64(0.5);
    let density = half
        * T::from_f64(std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2)
        * (T::ZERO - half * x * x).exp();
    normal_distribution(x) + x * density
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_function_equals_the_tables() {
        // Abramowitz and Stegun, table 7.1, and DLMF 7.6.1 for the smallest.
        let table = [
            (0.0, 0.0),
            (1e-9, 1.128_379_167_095_512_6e-9),
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (2.0, 0.995_322_265_018_952_7),
            (3.0, 0.999_977_909_503_001_4),
            (5.0, 0.999_999_999_998_462_5),
            (7.0, 1.0),
        ];
        for (x, expected) in table {
            for sign in [1.0, -1.0] {
                let found: f64 = error_function(sign * x);
                assert!((found - sign * expected).abs() <= 2e-15 * expected, "erf({x}) is {found}, not {expected}");
            }
        }
    }
}
