import { jsonResponse } from '../fake.ts';
import type { FakeResponse } from '../fake.ts';

/** What can be wrong with a chat completion, in OpenAI's terms. */
export interface ChatProblem {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

export interface ProblemDetails {
  readonly model?: string;
  readonly key?: string;
  readonly param?: string;
  readonly message?: string;
  readonly method?: string;
  readonly path?: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

export type ProblemKind =
  | 'no_key'
  | 'bad_key'
  | 'no_model'
  | 'no_messages'
  | 'invalid'
  | 'unsupported'
  | 'unknown_model'
  | 'unknown_path'
  | 'bad_json'
  | 'too_large'
  | 'rate_limited'
  | 'server_error';

type Sentences = Readonly<Record<ProblemKind, (details: ProblemDetails) => ChatProblem>>;

/** A dialect's own wording or status; what it leaves out is OpenAI's. */
export type DialectSentences = Readonly<
  Partial<Record<ProblemKind, (details: ProblemDetails) => Partial<ChatProblem>>>
>;

const invalid = (message: string, rest: Partial<ChatProblem> = {}): ChatProblem => ({
  status: 400,
  message,
  type: 'invalid_request_error',
  param: null,
  code: null,
  ...rest,
});

const openAiSentences: Sentences = {
  no_key: () =>
    invalid(
      "You didn't provide an API key. You need to provide your API key in an Authorization header using " +
        'Bearer auth (i.e. Authorization: Bearer YOUR_KEY).',
      { status: 401 },
    ),
  bad_key: ({ key }) =>
    invalid(
      `Incorrect API key provided: ${maskKey(key ?? '')}. You can find your API key at https://platform.openai.com/account/api-keys.`,
      { status: 401, code: 'invalid_api_key' },
    ),
  no_model: () => invalid('you must provide a model parameter'),
  no_messages: () =>
    invalid("Missing required parameter: 'messages'.", { param: 'messages', code: 'missing_required_parameter' }),
  invalid: ({ message, param }) =>
    invalid(message ?? 'Invalid value.', { param: param ?? null, code: 'invalid_value' }),
  unsupported: ({ message, param }) =>
    invalid(message ?? 'Unsupported parameter.', { param: param ?? null, code: 'unsupported_parameter' }),
  unknown_model: ({ model }) =>
    invalid(`The model \`${model ?? ''}\` does not exist or you do not have access to it.`, {
      status: 404,
      code: 'model_not_found',
    }),
  unknown_path: ({ method, path }) => invalid(`Invalid URL (${method ?? ''} ${path ?? ''})`, { status: 404 }),
  bad_json: () =>
    invalid(
      "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your " +
        'HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid ' +
        'JSON.)',
    ),
  too_large: () => invalid('Request body is too large.', { status: 413 }),
  rate_limited: ({ model, retryAfter }) => ({
    status: 429,
    message:
      `Rate limit reached for ${model ?? 'this model'} in organization org-sandbox on requests per min ` +
      `(RPM): Limit 1, Used 1, Requested 1. Please try again in ${String(retryAfter ?? 1)}s.`,
    type: 'requests',
    param: null,
    code: 'rate_limit_exceeded',
  }),
  server_error: () => ({
    status: 500,
    message: 'The server had an error while processing your request. Sorry about that!',
    type: 'server_error',
    param: null,
    code: null,
  }),
};

/** OpenAI's envelope `{error: {message, type, param, code}}`. */
export function openAiShape({ message, type, param, code }: ChatProblem): unknown {
  return { error: { message, type, param, code } };
}

export interface ProblemStyle {
  readonly sentences: DialectSentences;
  readonly shape: (problem: ChatProblem) => unknown;
}

/** The reply of one dialect to one problem. */
export function problemReply(style: ProblemStyle, kind: ProblemKind, details: ProblemDetails = {}): FakeResponse {
  const problem = { ...openAiSentences[kind](details), ...style.sentences[kind]?.(details) };
  const headers = kind === 'rate_limited' ? { 'retry-after': String(details.retryAfter ?? 1) } : {};
  return jsonResponse(problem.status, style.shape(problem), headers);
}

/** Keys come back masked in messages, as the real ones do it. */
export function maskKey(key: string, shown = 4): string {
  return key.length <= shown * 2
    ? '*'.repeat(Math.max(key.length, 4))
    : `${key.slice(0, shown)}${'*'.repeat(8)}${key.slice(-shown)}`;
}
