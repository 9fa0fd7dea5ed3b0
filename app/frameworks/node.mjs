// Runs a bundle in Node as an external program, on standard input and output:
//
//     native-runner trace --backend tfjs-wasm --program 'tfjs-wasm=node node.mjs FOLDER/tfjs-wasm' …
//
// The bundle is the same as in the page's workers; this program emulates a worker scope around it.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { runInThisContext } from "node:vm";
import { readMessages, writeMessage } from "./pipe.mjs";

const script = join(resolve(process.argv[2] ?? "."), "worker.js");
// Standard output is reserved for responses.
console.log = console.info = console.debug = console.warn = console.error;

globalThis.self = globalThis;
globalThis.location = { href: script };
// TensorFlow.js uses these if it detects Node.
globalThis.require = createRequire(import.meta.url);
globalThis.__dirname = dirname(script);
// jax-js uses this method of iterators, which browsers have, and Node.js from version 22 on.
Object.getPrototypeOf(Object.getPrototypeOf([].values())).map ??= function (convert) {
  return Array.from(this, convert);
};
globalThis.postMessage = (message) => message.header && writeMessage(message);
runInThisContext(await readFile(script, "utf8"), { filename: script });

for await (const data of readMessages(process.stdin)) globalThis.onmessage({ data });
