// Compares each program of the page with its framework's own training loop, in one headless Chromium, in turns:
//
//     node build.mjs FOLDER && node own_example.mjs FOLDER [mlp|cnn …]
//
// A ratio above 1 means that the program is faster than the framework alone.
// CHROMIUM and CHROMIUM_FLAGS are the same as in chromium.mjs.

import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [folder, ...asked] = process.argv.slice(2);
if (!folder) {
  console.error("which folder? as in: node own_example.mjs FOLDER");
  process.exit(2);
}
const networks = asked.length ? asked : ["mlp", "cnn"];
const STEPS = { mlp: 6, cnn: 2 };
const ROUNDS = 7;

/** Returns the response of a bundle, which runs in a separate browser. */
async function answer(bundle, message) {
  const script = join(dirname(fileURLToPath(import.meta.url)), "chromium.mjs");
  const program = spawn(process.execPath, [script, join(folder, bundle)], { stdio: ["pipe", "pipe", "inherit"] });
  program.stdin.write(`${JSON.stringify(message)}\n`);
  let text = "";
  for await (const part of program.stdout) {
    text += part;
    if (text.includes("\n")) break;
  }
  program.stdin.end();
  if (!text) throw new Error(`${bundle} did not answer`);
  return JSON.parse(text.split("\n")[0]);
}

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};

console.log("| framework | network | own, ms a step | here, ms a step | ratio (quartiles of the rounds) | device |\n|---|---|---|---|---|---|");
const bundles = (await readdir(folder)).filter((name) => name.startsWith("own-")).sort();
for (const bundle of bundles) {
  for (const network of networks) {
    const found = await answer(bundle, { network, steps: STEPS[network], rounds: ROUNDS });
    if (found.error) {
      console.log(`| ${bundle} | ${network} | | | ${found.error.split("\n")[0]} | |`);
      continue;
    }
    const ratios = found.own.map((own, round) => own / found.ours[round]).sort((a, b) => a - b);
    const [low, high] = [ratios[Math.floor(ratios.length / 4)], ratios[Math.floor((3 * ratios.length) / 4)]];
    const milliseconds = (values) => (1000 * median(values)).toFixed(1);
    const ratio = `${median(ratios).toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
    console.log(`| ${found.version} | ${network} | ${milliseconds(found.own)} | ${milliseconds(found.ours)} | ${ratio} | ${found.device} |`);
  }
}
