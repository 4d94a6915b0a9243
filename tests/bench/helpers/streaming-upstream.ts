import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

// A provider that streams: each token tells when it was sent, by the machine's own clock, which all processes share. A message
// with "hold" in it gets a token a second for as long as its caller listens; others get ten. Run as a process of its own.
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1735689600, model: 'gpt-4.1-mini-2025-04-14', choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }] })}\n\n`;

const usage = `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1735689600, model: 'gpt-4.1-mini-2025-04-14', choices: [], usage: { prompt_tokens: 25, completion_tokens: 15, total_tokens: 40 } })}\n\n`;

async function stream(response: ServerResponse, holds: boolean): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  await sleep(10);
  response.write(chunk({ role: 'assistant', content: '' }));
  for (let count = 0; !response.destroyed && (holds || count < 10); count += 1) {
    response.write(chunk({ content: ` @${String(process.hrtime.bigint())}@` }));
    await sleep(holds ? 1000 : 20);
  }
  response.end(`${chunk({}, 'stop')}${usage}data: [DONE]\n\n`);
}

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (part: Buffer) => {
    body += part.toString('latin1');
  });
  request.on('end', () => void stream(response, /hold[^"]*"}\]/.test(body)));
});
server.listen(0, '127.0.0.1', () => {
  console.log(`Ready on http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
});
