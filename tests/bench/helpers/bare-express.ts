import express from 'express';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';

// The least that does the same job: an express handler that calls the openai SDK with its default fetch. Run as a process of its own.
const client = new OpenAI({ apiKey: 'bench', baseURL: process.argv[2] ?? '', maxRetries: 0 });

const app = express();
app.use(express.json());
app.post('/generate', async (request, response) => {
  const { model, messages } = request.body as { model: string; messages: OpenAI.ChatCompletionMessageParam[] };
  const completion = await client.chat.completions.create({ model, messages });
  response.json({
    content: completion.choices[0]?.message.content,
    usage: {
      input_tokens: completion.usage?.prompt_tokens,
      output_tokens: completion.usage?.completion_tokens,
      total_tokens: completion.usage?.total_tokens,
    },
    provider: 'OpenAI',
    model: completion.model,
  });
});
const server = app.listen(0, '127.0.0.1', () => {
  console.log(`Ready on http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
});
