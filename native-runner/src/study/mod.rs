//! Studies: a matrix of runs, or of suites of kernels, that is written down in a file, of which each cell is a process of its
//! own and leaves a file in a folder. `docs/STUDIES.md` describes both for whoever writes the one or reads the other.

pub(crate) mod axis;
pub(crate) mod cell;
pub(crate) mod definition;
pub(crate) mod estimate;
pub(crate) mod finished;
pub(crate) mod folder;
pub(crate) mod matrix;
#[cfg(test)]
pub(crate) mod testing;
