// Caches the page, so that it opens and trains offline. It never decides which version is shown: if the server
// responds, its index.html is used, which names every other file by a digest of its content. A cached file is therefore
// always current, and a stale one is never requested.

const KEPT = "gradmark-1";
const INDEX = "/";
// Lists of the server's files, cached for offline use.
const TOLD = ["/burn.json", "/frameworks.json"];

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin || /^\/(api|embed)\b/.test(pathname)) return;
  if (request.mode === "navigate") event.respondWith(page(event));
  else if (TOLD.includes(pathname)) event.respondWith(asked(request));
  else if (pathname.startsWith("/data/") || isNamedByContent(pathname)) event.respondWith(kept(event));
});

/**
 * Digests of up to sixteen hexadecimal digits, as Trunk and our hooks add them to names. The bundles of Burn and other
 * frameworks are left to the browser's cache, so that their workers can report whether they were downloaded.
 */
const isNamedByContent = (path) => /-[0-9a-f]{12,16}[._/]/.test(path) && !/^\/(burn|framework)-/.test(path);

async function install() {
  const index = await fetch(INDEX, { cache: "no-cache" });
  if (!index.ok) throw new Error(`the page's index was answered with status ${index.status}`);
  await keepPage(await caches.open(KEPT), index);
  // Also control pages that are already open: they name the same files by the same digests.
  await self.skipWaiting();
}

/** Responds to a navigation with the server's index, or the cached one if offline. */
async function page(event) {
  try {
    const answer = await fetch(event.request);
    if (new URL(event.request.url).pathname === INDEX && answer.ok) {
      const copy = answer.clone();
      // A page that cannot be cached is still shown.
      event.waitUntil(caches.open(KEPT).then((cache) => keepPage(cache, copy)).catch(() => {}));
    }
    return answer;
  } catch (error) {
    const index = await caches.match(INDEX);
    if (index) return index;
    throw error;
  }
}

/** Caches an index with the files that it names, and deletes the files of earlier versions. */
async function keepPage(cache, index) {
  const html = await index.clone().text();
  const named = [...html.matchAll(/"(\/[^"]+)"/g)].map(([, path]) => path).filter(isNamedByContent);
  // Preloaded files are named twice, but a cache rejects duplicates in one call.
  const files = [...new Set([...named, ...beside(named, "loader.js", ["worker.js", "worker_bg.wasm"])])];
  const missing = [];
  for (const file of files) if (!(await cache.match(file))) missing.push(file);
  await cache.addAll(missing);
  files.push(...(await keepDocuments(cache, named)));
  // Only after everything is cached.
  await cache.put(INDEX, index);
  for (const request of await cache.keys()) {
    const { pathname } = new URL(request.url);
    if (isNamedByContent(pathname) && !files.includes(pathname)) await cache.delete(request);
  }
}

/** Returns the paths of files in the same folder as a named one. */
function beside(named, name, others) {
  const folder = named.find((path) => path.endsWith(`/${name}`))?.slice(0, -name.length);
  return folder ? others.map((other) => folder + other) : [];
}

/** Caches the documents of the page, which are few and small, and returns their paths. */
async function keepDocuments(cache, named) {
  const [contents] = beside(named, "contents.json", ["contents.json"]);
  if (!contents) return [];
  const documents = beside(named, "contents.json", await (await cache.match(contents)).json());
  const missing = [];
  for (const file of documents) if (!(await cache.match(file))) missing.push(file);
  await cache.addAll(missing);
  return documents;
}

/** Returns the server's response, or the cached one if offline. */
async function asked(request) {
  try {
    const answer = await fetch(request);
    if (answer.ok) {
      const copy = answer.clone();
      await caches.open(KEPT).then((cache) => cache.put(request, copy)).catch(() => {});
    }
    return answer;
  } catch (error) {
    const known = await caches.match(request);
    if (known) return known;
    throw error;
  }
}

/** Returns a file named by its digest, from the cache unless the caller found it corrupted and requests a "reload". */
async function kept(event) {
  const isSpoilt = event.request.cache === "reload";
  const known = isSpoilt ? undefined : await caches.match(event.request).catch(() => undefined);
  if (known) return known;
  const answer = await fetch(event.request);
  if (answer.status === 200) {
    const copy = answer.clone();
    event.waitUntil(caches.open(KEPT).then((cache) => cache.put(event.request, copy)).catch(() => {}));
  }
  return answer;
}
