use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Sub, SubAssign};

/// The arithmetic of the twins, in single and in double precision.
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

    /// The larger of the two; not a number stays not a number, as in WGSL's comparison-free kernels.
    fn maximum(self, other: Self) -> Self {
        if self > other || self != self { self } else { other }
    }
}

macro_rules! real {
    ($type:ty) => {
        impl Real for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            #[expect(
                clippy::cast_possible_truncation,
                clippy::allow_attributes_without_reason,
                reason = "rounding to this type is the purpose"
            )]
            fn from_f64(value: f64) -> Self {
                value as Self
            }

            fn to_f64(self) -> f64 {
                self.into()
            }

            fn sqrt(self) -> Self {
                self.sqrt()
            }

            fn exp(self) -> Self {
                self.exp()
            }

            fn ln(self) -> Self {
                self.ln()
            }
        }
    };
}

real!(f32);
real!(f64);
