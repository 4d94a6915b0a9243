import { randomUUID } from 'node:crypto';
import { sealReasoning, type Reasoning } from '../../../kit/reasoning.ts';
import type { ToolCall } from '../../../kit/tools.ts';
import type { ResponseCall, ResponseResult } from './response-run.ts';

type Members = Readonly<Record<string, unknown>>;

export const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '')}`;

/** What a response says of its request, whatever becomes of it. */
export interface ResponseHead extends Members {
  readonly id: string;
  readonly model: string;
}

export function responseHead({ body }: Pick<ResponseCall, 'body'>, now: number): ResponseHead {
  return {
    id: newId('resp'),
    object: 'response',
    created_at: Math.floor(now / 1000),
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    metadata: body['metadata'] ?? {},
    model: String(body['model']),
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    reasoning: body['reasoning'] ?? { effort: null, summary: null },
    store: false,
    temperature: body['temperature'] ?? null,
    text: body['text'] ?? { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_p: body['top_p'] ?? null,
    truncation: 'disabled',
    usage: null,
    user: body['user'] ?? null,
  };
}

/** The whole response. That of a vendor with this format stays as it is, but for the name of the model. */
export function writeResponse(head: ResponseHead, result: ResponseResult, output = outputOf(result)): Members {
  const svc = writeSource(result);
  if (result.native !== undefined) return { ...result.native, model: head.model, svc };
  const reason = incompleteReason(result);
  return {
    ...head,
    status: reason === null ? 'completed' : 'incomplete',
    incomplete_details: reason && { reason },
    output,
    usage: writeUsage(result),
    svc,
  };
}

/** A text that ends with a refusal has ended by itself, as OpenAI sees it. */
function incompleteReason({ content, finish, refusal }: ResponseResult): string | null {
  if (finish === undefined || (refusal !== undefined && content !== '')) return null;
  return finish === 'length' ? 'max_output_tokens' : finish;
}

function outputOf(result: ResponseResult): Members[] {
  const { content, refusal, reasoning = [], toolCalls = [] } = result;
  const parts = [
    ...(content === '' ? [] : [textPart(content)]),
    ...(refusal === undefined ? [] : [{ type: 'refusal', refusal }]),
  ];
  const hasMessage = parts.length > 0 || toolCalls.length === 0;
  return [
    ...reasoning.map((piece) => reasoningItem(piece)),
    ...(hasMessage ? [messageItem(newId('msg'), parts)] : []),
    ...toolCalls.map((call) => callItem(call)),
  ];
}

export const textPart = (text: string): Members => ({ type: 'output_text', annotations: [], logprobs: [], text });

export function messageItem(id: string, content: readonly Members[], status = 'completed'): Members {
  return { id, type: 'message', status, role: 'assistant', content };
}

/** An item of a vendor with this format, or what another vendor returned, sealed for the way back. */
export function reasoningItem({ text, item, format }: Reasoning, id = newId('rs')): Members {
  if (item !== undefined && format === 'responses') return item;
  const summary = text === '' ? [] : [summaryPart(text)];
  return { id, type: 'reasoning', summary, ...(item && { encrypted_content: sealReasoning({ item, format }) }) };
}

export const summaryPart = (text: string): Members => ({ type: 'summary_text', text });

export function callItem({ id, name, arguments: given, signature }: ToolCall, status = 'completed'): Members {
  return {
    id: newId('fc'),
    type: 'function_call',
    status,
    call_id: id,
    name,
    arguments: given,
    // As in `chat/completions`: Google needs it back.
    ...(signature !== undefined && { extra_content: { google: { thought_signature: signature } } }),
  };
}

function writeUsage({ usage, tokenDetails = {} }: ResponseResult): Members {
  const { input_tokens, output_tokens, total_tokens } = usage;
  const { cached_input = 0, reasoning = 0 } = tokenDetails;
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: cached_input },
    output_tokens,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens,
  };
}

/** What the parameters are called here. */
const names: Readonly<Record<string, string>> = {
  max_completion_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
};

/** Names of parameters that were left out, as this format has them. */
export function ignoredNames({ ignored }: Pick<ResponseResult, 'ignored'>): string[] {
  return ignored.map((name) => names[name] ?? name);
}

/** Who wrote it, which another provider may have done (failover), and what was left out: a stream has sent its headers. */
function writeSource(result: ResponseResult): Members {
  const ignored = ignoredNames(result);
  return { provider: result.providerId, model: result.model, ...(ignored.length > 0 && { ignored_params: ignored }) };
}
