// Starts the training worker. Trunk's own loader calls the module in a way that wasm-bindgen warns about, and
// keeps quiet when the module cannot be compiled.
importScripts("/worker.js");
wasm_bindgen({ module_or_path: "/worker_bg.wasm" }).catch((error) => {
  postMessage(JSON.stringify({ Crashed: String(error) }));
});
