// Bundles each program, with the framework that it trains with, into a folder of its own:
//
//     node build.mjs FOLDER
//
// A folder FOLDER/NAME has worker.js, the modules of WebAssembly that it loads, and licences.txt, the licences of what is in
// it. What it made it says as JSON, by names: files, with the framework's packages and their versions.

import { build } from "esbuild";
import { copyFile, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const json = async (...path) => JSON.parse(await readFile(join(here, ...path), "utf8"));
const packageOf = (name) => json("node_modules", name, "package.json");

/** Names of the packages of which a bundle has files. */
function packages(metafile) {
  const found = Object.keys(metafile.inputs).map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
  return [...new Set(found.filter(Boolean))].sort();
}

/** The text of a licence, from the package itself or, where it has only the licence's name, from one that has the text. */
async function licence(name) {
  const folder = join(here, "node_modules", name);
  const files = await readdir(folder);
  const file = files.find((file) => /^licen[cs]e/i.test(file));
  if (file) return readFile(join(folder, file), "utf8");
  const { license } = await packageOf(name);
  if (license === "Apache-2.0") return readFile(join(here, "..", "..", "LICENSE-APACHE"), "utf8");
  const readme = files.find((file) => /^readme/i.test(file));
  const [, text] = readme ? (await readFile(join(folder, readme), "utf8")).split(/^#*\s*LICEN[CS]E.*$/im) : [];
  if (!text) throw new Error(`the package ${name} has no text of its licence (${license})`);
  return text.trim();
}

async function notices(names) {
  const parts = names.map(async (name) => {
    const { version, license } = await packageOf(name);
    return `${name} ${version}, ${license}\n\n${await licence(name)}\n`;
  });
  return (await Promise.all(parts)).join(`\n${"-".repeat(80)}\n\n`);
}

async function bundle(name, folder) {
  await mkdir(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: here,
    entryPoints: [join("src", "entries", `${name}.js`)],
    outfile: join(folder, "worker.js"),
    bundle: true,
    minify: true,
    metafile: true,
    format: "iife",
    platform: "browser",
    target: "es2022",
    // Licences stand in a file of their own.
    legalComments: "none",
    // What only Node has, which TensorFlow.js asks for there alone.
    external: ["fs", "path", "worker_threads", "perf_hooks", "os", "util", "crypto", "string_decoder", "node-fetch"],
    define: { JAX_JS_VERSION: JSON.stringify((await packageOf("@jax-js/jax")).version) },
    logLevel: "warning",
  });
  const names = packages(metafile);
  await writeFile(join(folder, "licences.txt"), await notices(names));
  for (const name of names) {
    const from = join(here, "node_modules", name, "dist");
    const modules = (await readdir(from).catch(() => [])).filter((file) => file.endsWith(".wasm"));
    for (const file of modules) await copyFile(join(from, file), join(folder, file));
  }
  const versions = await Promise.all(names.map(async (name) => `${name} ${(await packageOf(name)).version}`));
  return { name, files: (await readdir(folder)).sort(), packages: versions };
}

const [target] = process.argv.slice(2);
if (!target) {
  console.error("which folder? as in: node build.mjs FOLDER");
  process.exit(2);
}
const made = [];
for (const { name } of await json("bundles.json")) made.push(await bundle(name, join(target, name)));
console.log(JSON.stringify(made));
