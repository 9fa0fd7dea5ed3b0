use super::pcg4d::uniform;
use crate::Real;
use crate::params::{Epilogue, Step};

/// Twin of `shared/epilogue.wgsl`: activation, then inverted dropout with random number `index`.
pub(super) fn apply<T: Real>(value: T, index: u32, epilogue: &Epilogue, step: &Step) -> T {
    let value = if epilogue.relu == 1 { value.maximum(T::ZERO) } else { value };
    if epilogue.dropout_stream == 0 || step.training == 0 {
        return value;
    }
    if uniform(index, epilogue.dropout_stream, step.step, step.seed) < epilogue.dropout_rate {
        return T::ZERO;
    }
    value / (T::ONE - T::from_f64(f64::from(epilogue.dropout_rate)))
}

/// Slope of the epilogue at its result `output`: dropped and negative values let nothing through.
pub(super) fn slope<T: Real>(output: T, epilogue: &Epilogue) -> T {
    if epilogue.relu == 1 && output <= T::ZERO {
        return T::ZERO;
    }
    if epilogue.dropout_stream == 0 {
        return T::ONE;
    }
    T::ONE / (T::ONE - T::from_f64(f64::from(epilogue.dropout_rate)))
}
