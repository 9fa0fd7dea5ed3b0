/// What happens on a device when an operation is first used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstUse {
    /// What happens later, too.
    Ordinary,
    /// It is compiled.
    Compiles,
    /// Operations are fused, each of several kernels is compiled and timed, and the fastest is kept for its size.
    CompilesAndTunes,
}

impl FirstUse {
    /// On a device that compiles kernels or not, in a program whose Burn tunes what it compiles or not.
    pub(super) fn new(compiles: bool, tunes: bool) -> Self {
        match (compiles, tunes) {
            (false, _) => Self::Ordinary,
            (true, false) => Self::Compiles,
            (true, true) => Self::CompilesAndTunes,
        }
    }
}
