// Names of devices, and the errors that they report between answers.

/** Names of adapters that are programs. */
const SOFTWARE = /swiftshader|llvmpipe|basic render/i;

async function adapter() {
  const options = { powerPreference: "high-performance" };
  return (await navigator.gpu?.requestAdapter(options))?.info ?? {};
}

function nameOf({ description, vendor, architecture }) {
  return description || [vendor, architecture].filter(Boolean).join(" ") || "a GPU without a name";
}

/** What is known of the GPU that WebGPU gives, the fast one of several, as both frameworks ask for it. */
export async function gpu() {
  const info = await adapter();
  const device = nameOf(info);
  return { device, kind: info.isFallbackAdapter || SOFTWARE.test(device) ? "cpu" : "unknown" };
}

/** What is known of the GPU behind a WebGL context. */
export function renderer(context) {
  const named = context.getExtension("WEBGL_debug_renderer_info");
  const device = String(context.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : context.RENDERER));
  return { device, kind: SOFTWARE.test(device) ? "cpu" : "unknown" };
}

export const processor = () => ({ device: "cpu", kind: "cpu" });

/** Collects what goes wrong on a device of WebGPU without anybody being told: a lost device, a refused command. */
export function faultsOf(device) {
  const faults = [];
  const note = (fault) => faults.length < 3 && faults.push(fault);
  device.addEventListener("uncapturederror", ({ error }) => note(error.message));
  device.lost.then(({ message }) => note(`the device was lost: ${message}`));
  return faults;
}
