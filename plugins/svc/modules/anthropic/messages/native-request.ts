import { isRecord } from '#plugin-api';
import type { GivenRequest } from '../../../ai/generate-text.ts';
import { requireScopes, type Caller } from '../../../kit/caller.ts';
import type { AiParamName, AiParams } from '../../../kit/ai-params.ts';
import { invalid } from '../../../kit/read-members.ts';
import type { ChosenModel } from '../../../settings/find-model.ts';
import type { AnthropicRequest } from '../anthropic-ports.ts';
import { isOfOtherVendor } from './read-messages.ts';
import type { Reading } from './reading.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * The request for Claude, as it was sent: only thinking of other vendors is left out, which Claude refuses.
 *
 * @throws RestError 400 for a header `anthropic-beta` that is none
 */
export function nativeRequest(
  { headers }: Pick<AnthropicRequest, 'headers'>,
  body: Members,
  { params, reading }: { readonly params: AiParams; readonly reading: Reading },
): GivenRequest {
  const beta = readBeta(headers['anthropic-beta']);
  return {
    format: 'messages',
    body: { ...body, messages: (body['messages'] as readonly unknown[]).map(withoutOthersThinking) },
    given: Object.keys(params) as AiParamName[],
    ...(beta !== undefined && { headers: { 'anthropic-beta': beta } }),
    needed: reading.needed,
    spared: [...new Set(reading.spared)],
  };
}

function withoutOthersThinking(message: unknown): unknown {
  const content = isRecord(message) ? message['content'] : undefined;
  if (!isRecord(message) || !Array.isArray(content)) return message;
  const rest = content.filter((block: unknown) => !isRecord(block) || !isOfOtherVendor(block));
  return rest.length === content.length ? message : { ...message, content: rest };
}

/** Names of features, with commas between them. */
const betas = /^[\w.-]+(\s*,\s*[\w.-]+)*$/;

function readBeta(header: string | undefined): string | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  if (header.length <= 1_000 && betas.test(header.trim())) return header.trim();
  throw invalid('anthropic-beta', 'must be a list of names of features, at most 1,000 characters.');
}

/** Members that hold texts of people and schemas, and choose no model. */
const texts: readonly string[] = ['messages', 'system', 'metadata', 'input_schema', 'schema', 'input_examples'];

/**
 * A tool of the vendor may ask another model, such as an advisor: its key must allow that one too (D31).
 *
 * @throws RestError 403 `rest_svc_key_out_of_scope`
 */
export function requireNamedModels(
  { model: _model, ...body }: Members,
  { provider }: Extract<ChosenModel, { kind: 'provider' }>,
  caller: Caller | undefined,
): void {
  for (const model of modelsIn(body)) requireScopes(caller, { provider, model });
}

function modelsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(modelsIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (texts.includes(name)) return [];
    if (!/models?$/i.test(name)) return modelsIn(member);
    const named: readonly unknown[] = Array.isArray(member) ? member : [member];
    return named.flatMap((one) => (typeof one === 'string' ? [one] : modelsIn(one)));
  });
}
