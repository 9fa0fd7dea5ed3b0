// Runs a program in a worker. Messages and responses are `{ header, payload }`, with the header as JSON and the payload
// as an ArrayBuffer. Once the framework works, the worker sends `{ loaded }` with the cost of loading it. A port sent
// to the worker replaces it for all other messages.

import { Program } from "./program.js";

/** Handles messages sequentially, once the framework is open. */
export function serve(opening) {
  const program = opening.then((framework) => new Program(framework));
  // If it does not work, the response to the first message is the error.
  program.then(() => self.postMessage({ loaded: loaded() })).catch(() => {});
  let turn = Promise.resolve();
  const listen = (line) => {
    line.onmessage = ({ data, ports }) => {
      if (ports?.length) return listen(ports[0]);
      turn = turn.then(() => answer(line, program, JSON.parse(data.header), new Uint8Array(data.payload)));
    };
  };
  listen(self);
}

async function answer(line, program, message, bytes) {
  let found;
  try {
    found = await (await program).answer(message, bytes);
  } catch (error) {
    found = { header: { error: String(error?.message ?? error), cause: "failed" }, parts: [] };
  }
  if (!found) return;
  const payload = together(found.parts);
  line.postMessage({ header: JSON.stringify(found.header), payload }, [payload]);
}

/** Concatenates the bytes of several typed arrays. */
function together(parts) {
  const found = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    found.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
    at += part.byteLength;
  }
  return found.buffer;
}

/** Sizes and caching of the files, if the browser reports them, and seconds since the worker started. */
function loaded() {
  const files = performance.getEntriesByType?.("resource") ?? [];
  const sum = (size) => files.reduce((total, file) => total + file[size], 0);
  const told = files.length > 0 && files.every((file) => file.encodedBodySize > 0);
  return {
    compressed_bytes: told ? sum("encodedBodySize") : null,
    bytes: sum("decodedBodySize"),
    cached: told ? files.every((file) => file.transferSize === 0) : null,
    seconds: performance.now() / 1000,
  };
}
