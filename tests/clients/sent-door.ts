import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { restKey } from './openai-door.ts';

export type Members = Readonly<Record<string, unknown>>;

/** A route in the format of a vendor. */
export type Format = 'chat' | 'responses' | 'messages';

export interface SentDoor {
  readonly host: TestHost;
  /** Of the vendors' server, without a path. */
  readonly origin: string;
  /** Bodies that vendors got, newest last. */
  readonly received: Members[];
  /** Settings of providers by id, over those of the local server. */
  readonly settings: Record<string, Members>;
  /** Sends a request that is complete without the body. */
  ask(format: Format, body: Members, key?: string): Promise<Asked>;
  createKey(...flags: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  /** Id of the provider that responded. */
  readonly provider: unknown;
  /** Code of the service and sentence of an error. */
  readonly code: unknown;
  readonly message: string;
  readonly param: unknown;
}

const usage = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9, input_tokens: 5, output_tokens: 4 };
const text = { type: 'output_text', text: 'Hi.', annotations: [] };
const answers: Readonly<Record<Format, Members>> = {
  chat: { model: 'm', choices: [{ index: 0, message: { content: 'Hi.' }, finish_reason: 'stop' }], usage },
  messages: {
    ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' },
    ...{ content: [{ type: 'text', text: 'Hi.' }], usage },
  },
  responses: {
    ...{ id: 'r', object: 'response', model: 'm', status: 'completed', created_at: 1 },
    ...{ output: [{ type: 'message', role: 'assistant', content: [text] }], usage },
  },
};

const paths: Readonly<Record<Format, string>> = {
  chat: 'svc-openai/v1/chat/completions',
  responses: 'svc-openai/v1/responses',
  messages: 'svc-anthropic/v1/messages',
};
const hello = [{ role: 'user', content: 'Hello' }];
const complete: Readonly<Record<Format, Members>> = {
  chat: { model: 'openrouter/cheap', messages: hello },
  responses: { model: 'openai/gpt-4.1', input: 'Hello' },
  messages: { model: 'claude/claude-haiku-4-5', messages: hello, max_tokens: 9 },
};

/** A site whose providers are one local server with all three formats; OpenAI is asked over the Responses API. */
export async function startSentDoor(): Promise<SentDoor> {
  const received: Members[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      received.push(JSON.parse(Buffer.concat(parts).toString()) as Members);
      const format = (Object.keys(answers) as Format[]).find((one) => request.url?.includes(`/${one}`)) ?? 'chat';
      response.setHeader('content-type', 'application/json');
      const isCount = request.url?.endsWith('/count_tokens') === true;
      response.end(JSON.stringify(isCount ? { input_tokens: 5 } : answers[format]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const host = await createTestHost({ plugins: ['svc'], clock: createSystemClock() });
  await host.options.update('svc_api_key', host.secrets.encrypt(restKey));
  const settings: Record<string, Members> = { openai: { api: 'responses' } };
  host.hooks.addFilter('svc_provider_settings', (saved: Members, id: string) => {
    const base_url = id === 'claude' ? origin : `${origin}/v1`;
    return { ...saved, api_key: 'k', base_url, ...settings[id] };
  });
  return {
    ...{ host, origin, received, settings },
    async ask(format, body, key = restKey) {
      const response = await fetch(`${host.url}/wp-json/${paths[format]}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...complete[format], ...body }),
      });
      const answer = (await response.json()) as { readonly error?: Members; readonly svc?: Members };
      const { svc, message = '' } = answer.error ?? {};
      const details = (svc ?? {}) as Members;
      return {
        ...{ status: response.status, headers: response.headers, provider: answer.svc?.['provider'] },
        ...{ code: details['code'], message: String(message), param: details['param'] },
      };
    },
    async createKey(...flags) {
      const { code, out, err } = await host.cli('svc', 'key', 'create', '--name=Small', ...flags, '--json');
      if (code !== 0) throw new Error(err);
      return (JSON.parse(out) as { key: string }).key;
    },
    async stop() {
      await host.stop();
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
