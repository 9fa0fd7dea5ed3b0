//! The plain twins: slow, obviously right, in single or double precision.
//!
//! Each has the name, the parameters and the layouts of its kernel, and is the judge of it.

mod attention;
mod dot;
mod elementwise;
mod gather;
mod images;
mod memories;
mod normalizers;
mod order;
pub mod pcg4d;
mod peak;
mod pool;
mod products;
mod recurrent;
mod training;

use pcg4d::uniform;

use crate::Real;
use crate::params::{Epilogue, Step, activation};

pub use attention::*;
pub use elementwise::*;
pub use gather::*;
pub use images::*;
pub use memories::*;
pub use normalizers::*;
pub use order::*;
pub use peak::*;
pub use pool::*;
pub use products::*;
pub use recurrent::*;
pub use training::*;

/// Returns true if the value stored at `at` survives the dropout. Random numbers are counted without padding.
fn survives(at: u32, epilogue: &Epilogue, step: &Step) -> bool {
    let place = (at / epilogue.stored_channels).wrapping_mul(epilogue.channels) + at % epilogue.stored_channels;
    let index = step.first_row.wrapping_mul(epilogue.features).wrapping_add(place);
    uniform(index, epilogue.dropout_stream, step.step, step.seed) >= epilogue.dropout_rate
}

fn activate<T: Real>(activation: u32, value: T) -> T {
    match activation {
        activation::RELU => value.maximum(T::ZERO),
        activation::TANH => value.tanh(),
        activation::GELU => elementwise::gelu(value),
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

fn finish<T: Real>(epilogue: &Epilogue, step: &Step, values: &mut [T]) {
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
