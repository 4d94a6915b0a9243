import { asRecord, isRecord } from '#plugin-api';
import type { Question } from '../answer.ts';
import { jsonResponse, Refusal, readStops, readContentText } from '../fake.ts';
import type { FakeResponse, FakeRequest } from '../fake.ts';

/** `request_id` is given in the body and in a header. */
export function anthropicError(status: number, type: string, message: string): FakeResponse {
  const requestId = 'req_sandbox';
  return jsonResponse(
    status,
    { type: 'error', error: { type, message }, request_id: requestId },
    { 'request-id': requestId },
  );
}

const invalid = (message: string): Refusal => new Refusal(anthropicError(400, 'invalid_request_error', message));

/** Versions of the interface. The newer one takes no sampling parameters. */
const versions = ['2023-01-01', '2023-06-01', '2026-10-21'];
const sampling = ['temperature', 'top_p', 'top_k'] as const;

/** @throws Refusal in Anthropic's shape. */
export function checkVersion(request: FakeRequest): void {
  const version = request.headers['anthropic-version'];
  if (version === undefined) throw invalid('anthropic-version: header is required');
  if (!versions.includes(String(version)))
    throw invalid(`anthropic-version: "${String(version)}" is not a valid version`);
}

/**
 * Reads a Messages request and checks it as Anthropic does.
 *
 * @throws Refusal in Anthropic's shape.
 */
export function readMessagesRequest(request: FakeRequest): { readonly question: Question; readonly stream: boolean } {
  checkVersion(request);
  if (!isRecord(request.body)) throw invalid('The request body is not valid JSON.');
  const body = request.body;
  const model = body['model'];
  if (model === undefined) throw invalid('model: Field required');
  if (typeof model !== 'string') throw invalid('model: Input should be a valid string');
  if (model === '') throw invalid('model: String should have at least 1 character');
  const maxTokens = body['max_tokens'];
  if (maxTokens === undefined) throw invalid('max_tokens: Field required');
  if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens))
    throw invalid('max_tokens: Input should be a valid integer');
  if (maxTokens < 1) throw invalid('max_tokens: Input should be greater than or equal to 1');
  const messages = readMessages(body['messages']);
  checkSampling(request, body);
  if (model.startsWith('missing-')) throw new Refusal(anthropicError(404, 'not_found_error', `model: ${model}`));
  const question = {
    provider: 'Claude',
    model,
    system: readContentText(body['system']),
    messages,
    maxTokens,
    stop: readStops(body['stop_sequences']),
    seed: String(request.seed),
    json: false,
    reason: false,
    ...readTools(body),
  };
  return { question, stream: body['stream'] === true };
}

function readMessages(messages: unknown): { role: string; content: string }[] {
  if (messages === undefined) throw invalid('messages: Field required');
  if (!Array.isArray(messages)) throw invalid('messages: Input should be a valid array');
  if (messages.length === 0) throw invalid('messages: at least one message is required');
  return messages.map((message: unknown, index) => {
    const { role, content } = asRecord(message);
    if (role === 'system')
      throw invalid(
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not ' +
          '"system" as an input message role.',
      );
    if (role !== 'user' && role !== 'assistant')
      throw invalid(`messages.${String(index)}.role: Input should be 'user' or 'assistant'`);
    if (index === 0 && role !== 'user') throw invalid('messages: first message must use the "user" role');
    if (content === undefined) throw invalid(`messages.${String(index)}.content: Field required`);
    const text = readContentText(content);
    const kind = blockType(content);
    if (kind === 'tool_result') return { role: 'tool', content: text };
    if (text === '' && kind !== 'tool_use') throw invalid('messages: text content blocks must be non-empty');
    return { role, content: text };
  });
}

/** The type of the last block. */
function blockType(content: unknown): unknown {
  const last: unknown = Array.isArray(content) ? content.at(-1) : undefined;
  return isRecord(last) ? last['type'] : 'text';
}

function readTools({ tools, tool_choice: choice, output_config: config }: Record<string, unknown>): Partial<Question> {
  const format = isRecord(config) ? config['format'] : undefined;
  const named = isRecord(choice) ? (choice['type'] === 'tool' ? choice['name'] : choice['type']) : undefined;
  return {
    ...(isRecord(format) && { schema: format['schema'] }),
    tools: (Array.isArray(tools) ? (tools as unknown[]) : [])
      .filter(isRecord)
      .map((tool) => ({ name: String(tool['name']), parameters: tool['input_schema'] })),
    ...(typeof named === 'string' && { toolChoice: named }),
  };
}

function checkSampling(request: FakeRequest, body: Readonly<Record<string, unknown>>): void {
  for (const name of sampling) {
    const value = body[name];
    if (value === undefined) continue;
    if (request.headers['anthropic-version'] === '2026-10-21') throw invalid(`${name}: Extra inputs are not permitted`);
    if (typeof value !== 'number') throw invalid(`${name}: Input should be a valid number`);
    if (name === 'top_k') continue;
    if (value < 0) throw invalid(`${name}: Input should be greater than or equal to 0`);
    if (value > 1) throw invalid(`${name}: Input should be less than or equal to 1`);
  }
}
