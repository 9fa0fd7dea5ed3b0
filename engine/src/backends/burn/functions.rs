use burn_tensor::{Device, ExecutionError, Tensor, activation};
use shaders::params::activation as activations;

use crate::model::{Activation, Model};

/// Largest argument for the series. Below it, a device's tanh may lose digits.
const MAX_SERIES_X: f32 = 0.1;
/// Terms after x, Abramowitz and Stegun 4.5.64: accurate to 6e-8 up to [`MAX_SERIES_X`].
const TANH_SERIES: [f32; 2] = [-1.0 / 3.0, 2.0 / 15.0];
/// Small arguments for testing a device's tanh.
const TANH_PROBES: [f32; 5] = [1e-4, 1e-3, 1e-2, 3e-2, 9e-2];
/// Largest relative error of tanh.
const MAX_TANH_ERROR: f64 = 1e-6;
/// Arguments for testing GELU, with its slopes `Φ(x) + x·φ(x)`.
const GELU_PROBES: [(f32, f64); 3] =
    [(-1.5, -0.127_469_192_229_979_54), (0.5, 0.867_495_124_656_162_9), (1.0, 1.083_315_470_587_686_4)];
/// Largest absolute error of a slope.
const MAX_GELU_ERROR: f64 = 1e-5;

/// Functions to compose from other operations, because Burn does not compute them accurately on every device.
///
/// Burn leaves tanh to the device. A graphics driver may compute it as a quotient of differences of exponentials, which
/// loses digits of small values: on llvmpipe, gradients of `keras-mnist-hrnn` had relative errors of 2.7e-5. Burn
/// backends without a gradient of GELU use the gradient of its tanh approximation, with slope errors up to 0.001. Both
/// are tested on the device, and composed only if inaccurate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Functions {
    tanh_by_series: bool,
    gelu_by_erf: bool,
}

impl Functions {
    pub(super) async fn of_model(model: &Model, device: &Device) -> Result<Self, ExecutionError> {
        let has = |wanted| model.nodes.iter().any(|node| node.layer.activation() == wanted);
        Ok(Self {
            tanh_by_series: has(Activation::Tanh) && !is_tanh_right(device).await?,
            gelu_by_erf: has(Activation::Gelu) && !is_gelu_right(device).await?,
        })
    }

    /// Returns a record line for each composed function.
    pub(super) fn settings(self) -> impl Iterator<Item = String> {
        let tanh = self.tanh_by_series.then_some("burn tanh: by its series where small, the device's is inexact");
        let gelu = self.gelu_by_erf.then_some("burn gelu: composed, its gradient is an approximation");
        tanh.into_iter().chain(gelu).map(str::to_owned)
    }

    /// Applies the activation with this number.
    pub(super) fn activate<const D: usize>(self, x: Tensor<D>, number: u32) -> Tensor<D> {
        match number {
            activations::RELU => activation::relu(x),
            activations::TANH => self.tanh(x),
            activations::GELU if self.gelu_by_erf => gelu_by_erf(x),
            activations::GELU => activation::gelu(x),
            _ => x,
        }
    }

    pub(super) fn tanh<const D: usize>(self, x: Tensor<D>) -> Tensor<D> {
        if self.tanh_by_series { tanh_by_series(x) } else { activation::tanh(x) }
    }
}

async fn is_tanh_right(device: &Device) -> Result<bool, ExecutionError> {
    let found = activation::tanh(Tensor::<1>::from_floats(TANH_PROBES, device)).into_data_async().await?;
    Ok(found.iter::<f32>().zip(TANH_PROBES).all(|(found, probe)| {
        let right = f64::from(probe).tanh();
        (f64::from(found) - right).abs() <= MAX_TANH_ERROR * right
    }))
}

async fn is_gelu_right(device: &Device) -> Result<bool, ExecutionError> {
    let x = Tensor::<1>::from_floats(GELU_PROBES.map(|(x, _)| x), device).autodiff().require_grad();
    let Some(slopes) = x.grad(&activation::gelu(x.clone()).sum().backward()) else { return Ok(false) };
    let slopes = slopes.into_data_async().await?;
    Ok(slopes
        .iter::<f32>()
        .zip(GELU_PROBES)
        .all(|(found, (_, right))| (f64::from(found) - right).abs() <= MAX_GELU_ERROR))
}

/// Returns tanh, with 1 - tanh² as its gradient instead of the gradient of the series.
fn tanh_by_series<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let fixed = x.clone().detach();
    let square = fixed.clone() * fixed.clone();
    let series = fixed.clone() + fixed.clone() * square.clone() * (square.clone() * TANH_SERIES[1] + TANH_SERIES[0]);
    let result = activation::tanh(fixed.clone()).mask_where(square.lower_elem(MAX_SERIES_X * MAX_SERIES_X), series);
    if !x.is_autodiff() {
        return result;
    }
    // Add zero with the correct slope.
    let slope = -(result.clone() * result.clone()) + 1.0;
    result + (x - fixed) * slope
}

/// Returns `x·(1 + erf(x/√2))/2`, the forward function of Burn, with its exact gradient.
fn gelu_by_erf<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let share = ((x.clone() * std::f32::consts::FRAC_1_SQRT_2).erf() + 1.0) * 0.5;
    x * share
}

#[cfg(all(test, feature = "burn-flex"))]
mod tests {
    use super::*;

    fn computed(function: fn(Tensor<1>) -> Tensor<1>, values: &[f32]) -> Vec<(f64, f64)> {
        let x = Tensor::<1>::from_floats(values, &Device::flex()).autodiff().require_grad();
        let result = function(x.clone());
        let slopes = x.grad(&result.clone().sum().backward()).unwrap().into_data();
        let results = result.inner().into_data();
        results.iter::<f64>().zip(slopes.iter::<f64>()).collect()
    }

    #[test]
    fn tanh_by_its_series_is_right_with_its_gradient() {
        let steps = (-40..=40).map(|step| step as f32 * 0.1);
        let values: Vec<f32> = steps.flat_map(|x| [x, x * 1e-2, x * 1e-4]).collect();
        for (&x, (found, slope)) in values.iter().zip(computed(tanh_by_series, &values)) {
            let right = f64::from(x).tanh();
            assert!((found - right).abs() <= 1e-6 * right.abs(), "tanh({x}) = {right}, not {found}");
            let right = 1.0 - right * right;
            assert!((slope - right).abs() <= 1e-6, "slope at {x}: {right}, not {slope}");
        }
    }

    #[test]
    fn gelu_by_erf_has_the_slope_of_gelu() {
        let values = GELU_PROBES.map(|(x, _)| x);
        for ((x, right), (_, slope)) in GELU_PROBES.into_iter().zip(computed(gelu_by_erf, &values)) {
            assert!((slope - right).abs() <= 1e-6, "slope at {x}: {right}, not {slope}");
        }
    }

    #[test]
    fn the_processor_computes_both_right_by_itself() {
        assert!(pollster::block_on(is_tanh_right(&Device::flex())).unwrap());
        assert!(pollster::block_on(is_gelu_right(&Device::flex())).unwrap());
    }
}
