import { createServer, type AddressInfo } from 'node:net';

// A provider that answers at once: fixed embeddings of 1,536 dimensions, one for each of 100 inputs, as floats or in base64
// as the request asks. Run as a process of its own, on bare sockets, so that it takes as little as can be of the processors
// that it shares with what is measured.
const inputs = 100;
const dimensions = 1536;

/** Numbers of the size of real ones, held by 32 bits, each written with the digits that it takes to tell it apart. */
let state = 1;
function next(): number {
  state = (state * 48271) % 2147483647;
  return Math.fround((state / 2147483647 - 0.5) / 10);
}

const vectors = Array.from({ length: inputs }, () => Array.from({ length: dimensions }, next));
const answerOf = (embeddingOf: (vector: readonly number[]) => unknown): Buffer => {
  const data = vectors.map((vector, index) => ({ object: 'embedding', index, embedding: embeddingOf(vector) }));
  const body = Buffer.from(
    JSON.stringify({
      object: 'list',
      data,
      model: 'text-embedding-3-small',
      usage: { prompt_tokens: 900, total_tokens: 900 },
    }),
  );
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${String(body.length)}\r\n\r\n`),
    body,
  ]);
};
const floats = answerOf((vector) => vector.map((value) => Number(value.toPrecision(9))));
const base64 = answerOf((vector) => Buffer.from(Float32Array.from(vector).buffer).toString('base64'));

/** Where the first request in the bytes ends, or -1 while it has not all come. Clients do not pipeline. */
function endOfRequest(bytes: Buffer): number {
  const head = bytes.indexOf('\r\n\r\n');
  if (head < 0) return -1;
  const headers = bytes.toString('latin1', 0, head).toLowerCase();
  const start = head + 4;
  if (headers.includes('transfer-encoding: chunked')) {
    const last = bytes.indexOf('0\r\n\r\n', start);
    return last < 0 ? -1 : last + 5;
  }
  const end = start + Number(/content-length: *(\d+)/.exec(headers)?.[1] ?? 0);
  return bytes.length >= end ? end : -1;
}

const server = createServer((socket) => {
  let pending: Buffer = Buffer.alloc(0);
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (let end = endOfRequest(pending); end >= 0; end = endOfRequest(pending)) {
      socket.write(pending.subarray(0, end).includes('"base64"') ? base64 : floats);
      pending = pending.subarray(end);
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  console.log(`Ready on http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
});
