// Starts the training worker with Burn, and reports download progress and loading time to the page.
// It is in the same folder as the two files that it loads.
const SCRIPT = "worker.js";
const MODULE = "worker_bg.wasm";
const STEP_BYTES = 250_000;

const post = (message) => postMessage(JSON.stringify(message));

// Returns the sizes and the transfer of the two files, as far as the browser reports them.
function transfer() {
  const places = [SCRIPT, MODULE].map((file) => new URL(file, location.href).href);
  const files = performance.getEntriesByType("resource").filter((entry) => places.includes(entry.name));
  if (files.length !== places.length || files.some((file) => !(file.encodedBodySize > 0))) {
    return { compressed_bytes: null, cached: null };
  }
  return {
    compressed_bytes: files.reduce((sum, file) => sum + file.encodedBodySize, 0),
    cached: files.every((file) => file.transferSize === 0),
  };
}

async function start() {
  const began = performance.now();
  importScripts(SCRIPT);
  const answer = await fetch(MODULE);
  if (!answer.ok) {
    throw new Error(`the server answered with status ${answer.status}`);
  }
  let bytes = 0;
  let told = 0;
  const counter = new TransformStream({
    transform(part, controller) {
      bytes += part.byteLength;
      if (bytes - told >= STEP_BYTES) {
        told = bytes;
        post({ Arriving: { bytes } });
      }
      controller.enqueue(part);
    },
    flush() {
      post({ Arriving: { bytes } });
    },
  });
  const headers = { "content-type": "application/wasm" };
  // The browser compiles the module while it is still downloading.
  await wasm_bindgen({ module_or_path: new Response(answer.body.pipeThrough(counter), { headers }) });
  post({ Loaded: { ...transfer(), bytes, seconds: (performance.now() - began) / 1000 } });
}

start().catch((error) => post({ NotLoaded: error instanceof Error ? error.message : String(error) }));
