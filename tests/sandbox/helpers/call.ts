/** One raw request to the sandbox and what came back, parsed when it was JSON. */
export interface Called {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
}

export interface CallInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects go out as JSON, strings as they are. */
  readonly body?: unknown;
}

export async function call(url: string, { method, headers = {}, body }: CallInit = {}): Promise<Called> {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** How each provider is addressed without an SDK: path of its text call, headers with the key, a right body. */
export interface Address {
  readonly id: string;
  readonly path: (model: string) => string;
  readonly headers: (key: string) => Record<string, string>;
  readonly body: (model: string) => Record<string, unknown>;
  /** Status of a wrong and of a missing key; null: none is asked for. */
  readonly wrongKey: number | null;
  readonly noKey: number | null;
  /** Status of an unknown model. */
  readonly unknownModel: number;
}

const chat = (model: string): Record<string, unknown> => ({ model, messages: [{ role: 'user', content: 'Hello' }] });
const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
const chatAddress = { headers: bearer, body: chat, wrongKey: 401, noKey: 401, unknownModel: 404 } as const;

export const addresses: readonly Address[] = [
  { ...chatAddress, id: 'openai', path: () => '/openai/v1/chat/completions' },
  { ...chatAddress, id: 'openrouter', path: () => '/openrouter/api/v1/chat/completions' },
  // A model DeepSeek does not know is a bad request, not a missing thing.
  { ...chatAddress, id: 'deepseek', path: () => '/deepseek/v1/chat/completions', unknownModel: 400 },
  // xAI calls a wrong key a bad argument.
  { ...chatAddress, id: 'xai', path: () => '/xai/v1/chat/completions', wrongKey: 400 },
  { ...chatAddress, id: 'ollama', path: () => '/ollama/v1/chat/completions', wrongKey: null, noKey: null },
  {
    ...chatAddress,
    id: 'azure',
    path: () => '/azure/openai/v1/chat/completions',
    headers: (key) => ({ 'api-key': key }),
  },
  {
    ...chatAddress,
    id: 'azure',
    path: (model) => `/azure/openai/deployments/${model}/chat/completions?api-version=2024-10-21`,
    headers: (key) => ({ 'api-key': key }),
    body: () => ({ messages: [{ role: 'user', content: 'Hello' }] }),
  },
  {
    id: 'claude',
    path: () => '/claude/v1/messages',
    wrongKey: 401,
    noKey: 401,
    unknownModel: 404,
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
    body: (model) => ({ ...chat(model), max_tokens: 100 }),
  },
  {
    // Google calls a wrong key a bad argument, and refuses to deal with strangers.
    id: 'google',
    path: (model) => `/google/v1beta/models/${model}:generateContent`,
    wrongKey: 400,
    noKey: 403,
    unknownModel: 404,
    headers: (key) => ({ 'x-goog-api-key': key }),
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
  },
];

/** The provider's error body: its message, wherever the provider puts it. */
export function messageOf(json: unknown): string {
  const { error } = json as { error?: string | { message?: string } };
  return typeof error === 'string' ? error : String(error?.message);
}
