// Names of devices, and the errors that they report between responses.

/** Names of software adapters. */
const SOFTWARE = /swiftshader|llvmpipe|basic render/i;

async function adapter() {
  const options = { powerPreference: "high-performance" };
  return (await navigator.gpu?.requestAdapter(options))?.info ?? {};
}

function nameOf({ description, vendor, architecture }) {
  return description || [vendor, architecture].filter(Boolean).join(" ") || "a GPU without a name";
}

/** Description of the WebGPU adapter, the high-performance one, as requested by both frameworks. */
export async function gpu() {
  const info = await adapter();
  const device = nameOf(info);
  return { device, kind: info.isFallbackAdapter || SOFTWARE.test(device) ? "cpu" : "unknown" };
}

/** Description of the GPU of a WebGL context. */
export function renderer(context) {
  const named = context.getExtension("WEBGL_debug_renderer_info");
  const device = String(context.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : context.RENDERER));
  return { device, kind: SOFTWARE.test(device) ? "cpu" : "unknown" };
}

export const processor = () => ({ device: "cpu", kind: "cpu" });

/** Collects errors of a WebGPU device that no call reports: a lost device, or a rejected command. */
export function faultsOf(device) {
  const faults = [];
  const note = (fault) => faults.length < 3 && faults.push(fault);
  device.addEventListener("uncapturederror", ({ error }) => note(error.message));
  device.lost.then(({ message }) => note(`the device was lost: ${message}`));
  return faults;
}
