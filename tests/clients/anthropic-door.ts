import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { restKey } from './openai-door.ts';

export type Json = Readonly<Record<string, unknown>>;

/** What a vendor answers: a body, or the events of a stream. */
export interface Played {
  readonly status?: number;
  readonly body?: unknown;
  readonly events?: readonly Json[];
  /** Whether the stream ends after its events without an end. */
  readonly isCut?: boolean;
}

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
}

export interface AnthropicDoor {
  readonly host: TestHost;
  /** Anthropic's SDK, unchanged. */
  client(key?: string, headers?: Readonly<Record<string, string>>): Anthropic;
  /** Vendors answer the next requests so, the last one all further ones. */
  play(...answers: readonly Played[]): void;
  /** What vendors got since then, oldest first. */
  received(): readonly Received[];
  /** Creates a named key by the flags of the command line, and returns its secret. */
  createKey(...flags: readonly string[]): Promise<string>;
  post(
    path: string,
    body: unknown,
    key?: string,
  ): Promise<{ status: number; headers: Headers; text: string; body: Json }>;
  stop(): Promise<void>;
}

/** A site whose Claude, OpenAI and DeepSeek are one local server, which answers as a test says. */
export async function startAnthropicDoor(): Promise<AnthropicDoor> {
  let answers: readonly Played[] = [];
  let received: Received[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString() || '{}') as Json;
      received.push({ path: request.url ?? '', headers: request.headers, body });
      const { status = 200, body: whole, events, isCut = false } = answers[0] ?? {};
      if (answers.length > 1) answers = answers.slice(1);
      response.writeHead(status, { 'content-type': events === undefined ? 'application/json' : 'text/event-stream' });
      if (events === undefined) return void response.end(JSON.stringify(whole));
      const text = events
        .map((event) => `event: ${event['type'] as string}\ndata: ${JSON.stringify(event)}\n\n`)
        .join('');
      if (isCut) response.write(text);
      else response.end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const host = await createTestHost({ plugins: ['svc', 'sandbox'], clock: createSystemClock() });
  const settings: Readonly<Record<string, object>> = {
    claude: { api_key: 'claude-key', base_url: `http://127.0.0.1:${String(port)}` },
    openai: { api_key: 'openai-key', base_url: `http://127.0.0.1:${String(port)}/v1` },
    deepseek: { api_key: 'deepseek-key', base_url: `http://127.0.0.1:${String(port)}/v1` },
  };
  host.hooks.addFilter('svc_provider_settings', (saved: Json, id: string) => ({ ...saved, ...settings[id] }));
  await host.options.update('svc_api_key', host.secrets.encrypt(restKey));
  const root = `${host.url}/wp-json/svc-anthropic`;
  return {
    host,
    client: (apiKey = restKey, defaultHeaders = {}) =>
      new Anthropic({ apiKey, baseURL: root, maxRetries: 0, defaultHeaders }),
    play(...next) {
      answers = next;
      received = [];
    },
    received: () => received,
    async createKey(...flags) {
      const { code, out, err } = await host.cli('svc', 'key', 'create', '--name=Program', ...flags, '--json');
      if (code !== 0) throw new Error(err);
      return (JSON.parse(out) as { key: string }).key;
    },
    async post(path, body, key = restKey) {
      const response = await fetch(`${root}/v1${path}`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json') === true;
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: isJson ? (JSON.parse(text) as Json) : {},
      };
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

const claudeUsage = { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 5 };

/** A whole message of Claude. */
export function claudeMessage(content: readonly Json[], stop_reason = 'end_turn'): Json {
  const head = { id: 'msg_vendor', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' };
  return { ...head, content, stop_reason, stop_sequence: null, usage: claudeUsage };
}

/** The events that Claude streams a message as. */
export function claudeEvents(content: readonly Json[], stop_reason = 'end_turn'): Json[] {
  const message = { ...claudeMessage([], stop_reason), stop_reason: null };
  const blocks = content.flatMap((block, index) => {
    const delta = (members: Json): Json => ({ type: 'content_block_delta', index, delta: members });
    const empty: Record<string, Json> = {
      text: { text: '' },
      thinking: { thinking: '', signature: '' },
      tool_use: { input: {} },
    };
    const deltas: Record<string, () => Json[]> = {
      text: () => [delta({ type: 'text_delta', text: block['text'] })],
      thinking: () => [
        delta({ type: 'thinking_delta', thinking: block['thinking'] }),
        delta({ type: 'signature_delta', signature: block['signature'] }),
      ],
      tool_use: () => [delta({ type: 'input_json_delta', partial_json: JSON.stringify(block['input']) })],
    };
    const type = String(block['type']);
    return [
      { type: 'content_block_start', index, content_block: { ...block, ...empty[type] } },
      ...(deltas[type]?.() ?? []),
      { type: 'content_block_stop', index },
    ];
  });
  return [
    { type: 'message_start', message },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
}

interface ChatAnswer {
  readonly text?: string;
  readonly call?: Json;
  readonly thought?: readonly string[];
}

/** Chunks of OpenAI's stream: a text, or one call of a tool, after what the model thought. */
export function chatEvents({ text, call, thought }: ChatAnswer): Json[] {
  const chunk = (delta: Json, finish_reason: string | null = null): Json => ({
    object: 'chat.completion.chunk',
    model: 'gpt-4.1',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const delta = text === undefined ? { tool_calls: [{ index: 0, type: 'function', ...call }] } : { content: text };
  const usage = {
    prompt_tokens: 16,
    completion_tokens: 5,
    total_tokens: 21,
    prompt_tokens_details: { cached_tokens: 4 },
  };
  return [
    ...(thought ?? []).map((reasoning_content) => chunk({ reasoning_content })),
    chunk(delta),
    chunk({}, text === undefined ? 'tool_calls' : 'stop'),
    { object: 'chat.completion.chunk', model: 'gpt-4.1', choices: [], usage },
  ];
}
