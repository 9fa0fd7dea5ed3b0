/// What happens on a device when an operation is first used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstUse {
    /// Nothing that would not happen later, too.
    Ordinary,
    /// It is compiled.
    Compiles,
    /// Operations are fused, each of several kernels is compiled and timed, and the fastest is kept for its size.
    CompilesAndTunes,
}

impl FirstUse {
    /// `compiles`: whether the device compiles kernels. `tunes`: whether Burn in this program tunes what it compiles.
    pub(super) fn new(compiles: bool, tunes: bool) -> Self {
        match (compiles, tunes) {
            (false, _) => Self::Ordinary,
            (true, false) => Self::Compiles,
            (true, true) => Self::CompilesAndTunes,
        }
    }
}
