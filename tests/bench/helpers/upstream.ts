import { createServer, type AddressInfo } from 'node:net';

// A provider that answers at once: one fixed chat completion. Run as a process of its own, on bare sockets, so that it takes
// as little as can be of the processors that the servers under test share with it. Its argument: milliseconds until each
// answer, none by default.
const delay = Number(process.argv[2] ?? 0);

const body = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1735689600,
    model: 'gpt-4.1-mini-2025-04-14',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'A fixed answer of one sentence, as long as answers of one sentence are.',
          refusal: null,
          annotations: [],
        },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 25,
      completion_tokens: 15,
      total_tokens: 40,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
    service_tier: 'default',
    system_fingerprint: 'fp_bench',
  }),
);

const answer = Buffer.concat([
  Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${String(body.length)}\r\n\r\n`),
  body,
]);

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
      pending = pending.subarray(end);
      if (delay === 0) socket.write(answer);
      else setTimeout(() => socket.write(answer), delay);
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  console.log(`Ready on http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
});
