//! Wasm module of the training worker with Burn, built by `cargo xtask run` after the page.

fn main() {
    training_worker::start();
}
