use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Sub, SubAssign};

/// Arithmetic of the reference implementations, in single or double precision.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
    + 'static
{
    const ZERO: Self;
    const ONE: Self;
    /// Rounds to this type.
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn tanh(self) -> Self;

    /// Returns the larger value, or `other` if either is NaN.
    fn maximum(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
fn round_to_single(value: f64) -> f32 {
    value as f32
}

macro_rules! real {
    ($type:ty, $round:expr, [$($function:ident),*]) => {
        impl Real for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            #[inline]
            fn from_f64(value: f64) -> Self {
                $round(value)
            }

            #[inline]
            fn to_f64(self) -> f64 {
                self.into()
            }

            $(#[inline]
            fn $function(self) -> Self {
                <$type>::$function(self)
            })*
        }
    };
}

real!(f32, round_to_single, [sqrt, exp, ln, tanh]);
real!(f64, std::convert::identity, [sqrt, exp, ln, tanh]);
