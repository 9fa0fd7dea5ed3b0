//! Wasm module of the page, built by `cargo xtask run`.

fn main() {
    app::mount();
}
