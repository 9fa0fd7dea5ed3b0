//! Every shader, through naga.

mod common;
mod recurrent;
mod translations;
mod validate;
