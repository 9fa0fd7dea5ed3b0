// Bundles each program with its framework, one folder each:
//
//     node build.mjs FOLDER
//
// FOLDER/NAME has worker.js, loader.js, the WebAssembly modules that the browser selects from and, for the page's
// bundles, licences.txt with the licenses of all contents.

import { build } from "esbuild";
import { copyFile, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const json = async (...path) => JSON.parse(await readFile(join(here, ...path), "utf8"));
const packageOf = (name) => json("node_modules", name, "package.json");

/** Names of the packages whose files are in a bundle. */
function packages(metafile) {
  const found = Object.keys(metafile.inputs).map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
  return [...new Set(found.filter(Boolean))].sort();
}

/** License files of code that packages contain without declaring it. */
const WITHIN = { "@tensorflow/tfjs-backend-wasm": ["xnnpack.txt"] };

/** License text of a package: its own or, if it only names the license, the text of another package. */
async function licence(name, names) {
  const found = await ownLicence(name);
  if (found) return found;
  const { license } = await packageOf(name);
  for (const other of names) {
    if ((await packageOf(other)).license === license && (await ownLicence(other))) return ownLicence(other);
  }
  throw new Error(`the package ${name} has no text of its licence (${license})`);
}

async function ownLicence(name) {
  const folder = join(here, "node_modules", name);
  const files = await readdir(folder);
  const text = (pattern) => {
    const file = files.find((file) => pattern.test(file));
    return file ? readFile(join(folder, file), "utf8") : "";
  };
  // Some packages have the license at the end of their readme.
  return (await text(/^licen[cs]e/i)) || (await text(/^readme/i)).split(/^#*\s*LICEN[CS]E.*$/im)[1]?.trim();
}

async function notices(names) {
  const parts = names.map(async (name) => {
    const { version, license } = await packageOf(name);
    const within = (WITHIN[name] ?? []).map((file) => readFile(join(here, "licences", file), "utf8"));
    const texts = await Promise.all([licence(name, names), ...within]);
    return `${name} ${version}, ${license}\n\n${texts.join("\n\n")}\n`;
  });
  return (await Promise.all(parts)).join(`\n${"-".repeat(80)}\n\n`);
}

async function bundle({ name, page = true }, folder) {
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
    // Licenses go to licences.txt.
    legalComments: "none",
    // Node modules, which TensorFlow.js only imports in Node.
    external: ["fs", "path", "worker_threads", "perf_hooks", "os", "util", "crypto", "string_decoder", "node-fetch"],
    define: { JAX_JS_VERSION: JSON.stringify((await packageOf("@jax-js/jax")).version) },
    logLevel: "warning",
  });
  const names = packages(metafile);
  // Only bundles for the page are distributed.
  if (page) await writeFile(join(folder, "licences.txt"), await notices(names));
  await copyFile(join(here, "src", "loader.js"), join(folder, "loader.js"));
  for (const name of names) {
    const from = join(here, "node_modules", name, "dist");
    const modules = (await readdir(from).catch(() => [])).filter((file) => file.endsWith(".wasm"));
    for (const file of modules) await copyFile(join(from, file), join(folder, file));
  }
}

const [target] = process.argv.slice(2);
if (!target) {
  console.error("which folder? as in: node build.mjs FOLDER");
  process.exit(2);
}
for (const listed of await json("bundles.json")) await bundle(listed, join(target, listed.name));
