//! Wasm module of the training worker, which Trunk builds with the page.

fn main() {
    training_worker::start();
}
