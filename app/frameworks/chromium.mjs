// Runs a bundle in a worker of a headless Chromium as an external program, on standard input and output, like node.mjs:
//
//     native-runner trace --backend tfjs-webgpu --program 'tfjs-webgpu=node chromium.mjs FOLDER/tfjs-webgpu' …
//
// This compares GPU backends with the golden traces. CHROMIUM is the path of the browser; WebGPU uses SwiftShader
// unless CHROMIUM_FLAGS replaces the flags below.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, resolve, sep } from "node:path";
import { readMessages, writeMessage } from "./pipe.mjs";

const FLAGS = "--no-sandbox --enable-unsafe-webgpu --use-webgpu-adapter=swiftshader --enable-unsafe-swiftshader";
// With a debugging pipe, the browser exits when this program does, for whatever reason.
const QUIET =
  "--headless=new --remote-debugging-pipe --no-first-run --disable-background-networking --disable-component-update --disable-sync";
const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html" };
// The same headers as our server sends, so that threads can share memory.
const ISOLATION = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };
// The page relays messages between its worker and this program: a line with the header, and the payload.
const PAGE = `<!doctype html><script type="module">
  const tell = (text) => fetch("/log", { method: "POST", body: text });
  const worker = new Worker("/loader.js");
  worker.onerror = ({ message }) => tell("the worker failed: " + message);
  worker.onmessage = ({ data: { header, payload } }) =>
    header && fetch("/answer", { method: "POST", body: new Blob([header, "\\n", payload]) });
  for (;;) {
    const next = await fetch("/next");
    if (next.status !== 200) break;
    const message = await next.arrayBuffer();
    const line = new Uint8Array(message).indexOf(10) + 1;
    const payload = message.slice(line);
    worker.postMessage({ header: new TextDecoder().decode(message.slice(0, line)), payload }, [payload]);
  }
</script>`;

const folder = resolve(process.argv[2] ?? ".");
const messages = readMessages(process.stdin);
const body = async (request) => Buffer.concat(await request.toArray());

async function answer(request, response) {
  const { pathname } = new URL(request.url, "http://localhost");
  const send = (status, headers, bytes) => response.writeHead(status, { ...ISOLATION, ...headers }).end(bytes);
  if (pathname === "/next") {
    const { value, done } = await messages.next();
    if (done) return end(0);
    return send(200, {}, Buffer.concat([Buffer.from(value.header), Buffer.from(value.payload)]));
  }
  if (pathname === "/answer") {
    const message = await body(request);
    const line = message.indexOf(10) + 1;
    writeMessage({ header: message.subarray(0, line).toString(), payload: message.subarray(line) });
  } else if (pathname === "/log") {
    console.error((await body(request)).toString());
  } else if (pathname === "/") {
    return send(200, { "content-type": TYPES[".html"] }, PAGE);
  } else {
    const path = join(folder, pathname);
    if (!path.startsWith(folder + sep)) return send(404);
    const bytes = await readFile(path).catch(() => undefined);
    return bytes ? send(200, { "content-type": TYPES[extname(path)] ?? "text/plain" }, bytes) : send(404);
  }
  return send(204);
}

const server = createServer((request, response) => answer(request, response).catch((error) => end(1, error)));
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const profile = await mkdtemp(join(tmpdir(), "gradmark-chromium-"));
const flags = `${QUIET} ${process.env.CHROMIUM_FLAGS ?? FLAGS}`.split(/\s+/);
const address = `http://127.0.0.1:${server.address().port}/`;
const options = [...flags, `--user-data-dir=${profile}`, address];
const program = process.env.CHROMIUM ?? "chromium";
const browser = spawn(program, options, { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"] });
browser.stderr.on("data", (text) => /ERROR:CONSOLE|INFO:CONSOLE/.test(text) && process.stderr.write(text));
browser.on("error", (error) => end(1, `${program} cannot be started: ${error.message}`));
browser.on("exit", (status) => end(1, `the browser ended with status ${status}`));

process.on("SIGTERM", () => end(1, "it was told to end"));

let ending = false;
async function end(status, reason) {
  if (ending) return;
  ending = true;
  if (reason) console.error(reason);
  const gone = browser.exitCode !== null || !browser.pid ? undefined : new Promise((exit) => browser.once("exit", exit));
  browser.kill();
  await gone;
  await rm(profile, { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
  process.exit(status);
}
