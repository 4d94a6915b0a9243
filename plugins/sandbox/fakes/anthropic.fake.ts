import { answer as makeAnswer, pieces } from '../answer.ts';
import type { Answer } from '../answer.ts';
import { bearer, jsonResponse, Refusal, sandboxKey, streamResponse } from '../fake.ts';
import type { FakeProvider, FakeResponse, FakeRequest } from '../fake.ts';
import { anthropicError, checkVersion, readMessagesRequest } from './anthropic-request.ts';

const stopReasons = { end: 'end_turn', stop_sequence: 'stop_sequence', length: 'max_tokens' } as const;

function usage(answer: Answer, outputTokens: number): object {
  return {
    input_tokens: answer.inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: outputTokens,
    server_tool_use: null,
    service_tier: 'standard',
  };
}

/** `POST /v1/messages`, whole or as the six kinds of events of a stream. */
function messages(request: FakeRequest): FakeResponse {
  const { question, stream } = readMessagesRequest(request);
  const answer = makeAnswer(question);
  const headers = { 'request-id': `req_${answer.fingerprint.slice(32, 56)}` };
  const message = {
    id: `msg_${answer.fingerprint.slice(0, 24)}`,
    type: 'message',
    role: 'assistant',
    model: question.model,
  };
  const { call } = answer;
  const ending = {
    stop_reason: call === null ? stopReasons[answer.finish] : 'tool_use',
    stop_sequence: answer.stopSequence,
  };
  const use = call && { type: 'tool_use', id: `toolu_${call.id}`, name: call.name };
  if (!stream) {
    const content = [
      ...(answer.text === '' ? [] : [{ type: 'text', text: answer.text, citations: null }]),
      ...(use === null ? [] : [{ ...use, input: call?.input }]),
    ];
    return jsonResponse(200, { ...message, content, ...ending, usage: usage(answer, answer.outputTokens) }, headers);
  }
  const event = (type: string, members: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  return streamResponse(
    [
      event('message_start', {
        message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: usage(answer, 1) },
      }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('ping', {}),
      ...pieces(answer.text).map((text) =>
        event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
      ),
      event('content_block_stop', { index: 0 }),
      ...(use === null ? [] : useEvents(event, { ...use, input: {} }, JSON.stringify(call?.input))),
      event('message_delta', { delta: ending, usage: { output_tokens: answer.outputTokens } }),
      event('message_stop', {}),
    ],
    headers,
  );
}

/** The block of a tool call, with its input in two pieces. */
function useEvents(event: (type: string, members: object) => string, block: object, json: string): string[] {
  const half = Math.ceil(json.length / 2);
  return [
    event('content_block_start', { index: 1, content_block: block }),
    ...[json.slice(0, half), json.slice(half)].map((partial_json) =>
      event('content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json } }),
    ),
    event('content_block_stop', { index: 1 }),
  ];
}

const models = ['claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-opus-5-5'];

const model = (id: string): object => ({
  type: 'model',
  id,
  display_name: `${id} (sandbox)`,
  created_at: '2025-01-01T00:00:00Z',
});

/** Anthropic's Messages interface. The service calls this provider `claude`. */
export const fakeAnthropic: FakeProvider = {
  id: 'claude',
  label: 'Claude',
  models,
  settings: (root) => ({ api_key: sandboxKey, base_url: root, model: models[0] ?? '' }),
  refuse: ({ headers }) => {
    const key = headers['x-api-key'] ?? bearer(headers);
    if (key === sandboxKey) return null;
    return anthropicError(
      401,
      'authentication_error',
      key === '' ? 'x-api-key header is required' : 'invalid x-api-key',
    );
  },
  errors: {
    unknownPath: () => anthropicError(404, 'not_found_error', 'Not found'),
    badJson: () => anthropicError(400, 'invalid_request_error', 'The request body is not valid JSON.'),
    tooLarge: () => anthropicError(413, 'request_too_large', 'Request exceeds the maximum size'),
    rateLimited: (_, retryAfter) => {
      const reply = anthropicError(
        429,
        'rate_limit_error',
        "This request would exceed your organization's rate limit. Please reduce the number of requests or try again later.",
      );
      return { ...reply, headers: { ...reply.headers, 'retry-after': String(retryAfter) } };
    },
    serverError: () => anthropicError(500, 'api_error', 'Internal server error'),
    streamedError: (body) => `event: error\ndata: ${body}\n\n`,
  },
  routes: [
    { method: 'POST', path: /^\/v1\/messages$/, handle: messages },
    {
      method: 'GET',
      path: /^\/v1\/models$/,
      handle: (request) => {
        checkVersion(request);
        return jsonResponse(200, {
          data: models.map(model),
          has_more: false,
          first_id: models[0],
          last_id: models.at(-1),
        });
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/models\/(?<model>[^/]+)$/,
      handle: ({ params: { model: id = '' } }) => {
        if (id.startsWith('missing-')) throw new Refusal(anthropicError(404, 'not_found_error', `model: ${id}`));
        return jsonResponse(200, model(id));
      },
    },
  ],
};
