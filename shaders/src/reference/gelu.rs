use super::epilogue::{apply_epilogue, store_gradient};
use crate::Real;
use crate::params::{Elementwise, Step};

/// `erf(x)`, from a series whose terms are all of one sign, so that nothing cancels:
/// `2/√π·exp(-x²)·Σ 2ⁿ·x²ⁿ⁺¹ / (1·3·5·…·(2n+1))`.
///
/// Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, formula 7.1.6.
pub(super) fn error_function<T: Real>(x: T) -> T {
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

/// Twin of `gelu_forward.wgsl`: `y = epilogue(gelu(x))`.
///
/// `x`, `y`: (elements).
pub fn gelu_forward<T: Real>(params: &Elementwise, step: &Step, x: &[T], y: &mut [T]) {
    for (at, (y, &x)) in (0u32..).zip(y.iter_mut().zip(x)) {
        *y = apply_epilogue(gelu(x), at, &params.epilogue, step);
    }
}

/// Twin of `gelu_backward.wgsl`: `dx = dy ⊙ gelu'(x) ⊙ slope(x)`, where `epilogue` made `x`.
///
/// `dy`, `x`, `dx`: (elements).
pub fn gelu_backward<T: Real>(params: &Elementwise, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let sums: Vec<T> = dy.iter().zip(x).map(|(&dy, &x)| dy * gelu_slope(x)).collect();
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

#[cfg(test)]
mod tests {
    use super::super::finite_differences::{assert_gradient, dot, numbers};
    use super::*;
    use crate::params::Epilogue;

    #[test]
    fn the_error_function_is_that_of_the_tables() {
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

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let params = Elementwise { elements: 40, reserved: [0; 3], epilogue: Epilogue::default() };
        let x: Vec<f64> = numbers(40, 1).iter().map(|x| 5.0 * x).collect();
        let dy = numbers(40, 2);
        let mut dx = vec![0.0; 40];
        gelu_backward(&params, &Step::default(), &dy, &x, &mut dx);
        assert_gradient(&x, &dx, |x| {
            let mut y = vec![0.0; 40];
            gelu_forward(&params, &Step::default(), x, &mut y);
            dot(&y, &dy)
        });
    }
}
