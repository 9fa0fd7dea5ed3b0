// Messages on a pipe, as defined in docs/EXTERNAL.md: a line of JSON, whose field `bytes` is the number of bytes that
// follow. In this program a message is `{ header, payload }`, as in a worker: the header as JSON and the payload as an
// ArrayBuffer.

/** Yields the messages of a stream until it ends. */
export async function* readMessages(stream) {
  const [parts, held] = [stream[Symbol.asyncIterator](), []];
  const gather = async () => {
    const { value, done } = await parts.next();
    if (!done) held.push(value);
    return !done;
  };
  const take = (count) => {
    const all = Buffer.concat(held);
    held.length = 0;
    if (all.length > count) held.push(all.subarray(count));
    return all.subarray(0, count);
  };
  for (;;) {
    let line = held.findIndex((part) => part.includes(10));
    while (line < 0) {
      if (!(await gather())) return;
      line = held.at(-1).includes(10) ? held.length - 1 : -1;
    }
    const before = held.slice(0, line).reduce((sum, part) => sum + part.length, 0);
    const header = take(before + held[line].indexOf(10) + 1).toString("utf8");
    const bytes = JSON.parse(header).bytes ?? 0;
    while (held.reduce((sum, part) => sum + part.length, 0) < bytes) {
      if (!(await gather())) throw new Error("the input ends within a message");
    }
    // Copied, so that the buffer only contains the payload.
    yield { header, payload: new Uint8Array(take(bytes)).buffer };
  }
}

/** Writes a response to standard output. */
export function writeMessage({ header, payload }) {
  const line = JSON.stringify({ ...JSON.parse(header), bytes: payload.byteLength });
  process.stdout.write(`${line}\n`);
  if (payload.byteLength) process.stdout.write(new Uint8Array(payload));
}
