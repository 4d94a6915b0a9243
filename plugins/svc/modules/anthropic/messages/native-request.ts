import { isRecord } from '#plugin-api';
import type { GivenRequest } from '../../../ai/generate-text.ts';
import type { AiParamName, AiParams } from '../../../kit/ai-params.ts';
import { invalid } from '../../../kit/read-members.ts';
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
    images: reading.images,
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
