//! The golden traces, and other tests that need whole networks.

mod common;
mod half;
mod imagenet;
mod redrawn;
#[cfg(feature = "burn-flex")]
mod threads;
mod traces;
