// Starts the training worker. It is in the same folder as the two files that it loads.
importScripts("worker.js");
wasm_bindgen({ module_or_path: "worker_bg.wasm" }).catch((error) => {
  postMessage(JSON.stringify({ Crashed: String(error) }));
});
