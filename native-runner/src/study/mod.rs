//! Studies: a file describes a matrix of runs or kernel suites; each cell is a process, and leaves a file in a folder
//! (`docs/STUDIES.md`).

pub(crate) mod cell;
pub(crate) mod definition;
pub(crate) mod estimate;
pub(crate) mod folder;
pub(crate) mod matrix;
