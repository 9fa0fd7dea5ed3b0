//! Studies: a file describes a matrix of runs or kernel suites; each cell runs in a process and writes a file to a
//! folder (`docs/STUDIES.md`).

pub(crate) mod cell;
pub(crate) mod definition;
pub(crate) mod folder;
pub(crate) mod matrix;
