import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// A provider that answers at once: one fixed chat completion. Run as a process of its own.
const answer = Buffer.from(JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1735689600,
  model: 'gpt-4.1-mini-2025-04-14',
  choices: [{
    index: 0,
    message: { role: 'assistant', content: 'A fixed answer of one sentence, as long as answers of one sentence are.', refusal: null, annotations: [] },
    logprobs: null,
    finish_reason: 'stop',
  }],
  usage: {
    prompt_tokens: 25, completion_tokens: 15, total_tokens: 40,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
  },
  service_tier: 'default',
  system_fingerprint: 'fp_bench',
}));

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.end(answer);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`Ready on http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
});
