import { isRecord } from '#plugin-api';
import type { AiParamName } from '../../kit/ai-params.ts';
import type { ToolChoice } from '../../kit/tools.ts';
import { objectAt, type JsonObject } from '../json.ts';
import { requireArguments } from '../provider-errors.ts';
import { mapParams, type MappedParams } from '../params.ts';
import {
  base64Of,
  type NativeRequest,
  type ProviderSettings,
  type TextMessage,
  type TextRequest,
} from '../provider.ts';
import { claudeRules, defaultMaxTokens } from './claude-models.ts';

/** The body of `POST /v1/messages`, and the parameters that it leaves out. */
interface ClaudeRequest {
  readonly body: JsonObject;
  readonly ignored: MappedParams['ignored'];
}

/** The request as its caller sent it, or its translation. */
export function claudeRequest(request: TextRequest, settings: ProviderSettings): ClaudeRequest {
  return request.native === undefined ? translatedRequest(request, settings) : nativeRequest(request, request.native);
}

/** Members of the body by parameter. The length limit is never left out. */
const nativeNames: Readonly<Partial<Record<AiParamName, string>>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  stop: 'stop_sequences',
  reasoning_effort: 'thinking',
};

function nativeRequest({ model, params }: TextRequest, { body: sent, given }: NativeRequest): ClaudeRequest {
  const refused = given.filter((name) => params[name] === undefined).map((name) => nativeNames[name]);
  const body: Record<string, unknown> = { ...sent, model };
  for (const name of refused) if (name !== undefined) Reflect.deleteProperty(body, name);
  if (refused.includes('thinking') && isRecord(sent['output_config'])) {
    const { effort: _effort, ...rest } = sent['output_config'];
    body['output_config'] = rest;
  }
  return { body, ignored: [] };
}

/** Anthropic joins adjacent messages of one role. */
function translatedRequest(request: TextRequest, settings: ProviderSettings): ClaudeRequest {
  const { wire, ignored } = mapParams(claudeRules, { params: request.params, model: request.model, settings });
  const { format, endUser } = request;
  const schema = format?.type === 'json_schema' ? { format: { type: 'json_schema', schema: format.schema } } : null;
  return {
    body: {
      model: request.model,
      max_tokens: defaultMaxTokens,
      ...(request.system !== null && request.system.trim() !== '' && { system: request.system }),
      messages: startWithUser(claudeMessages(request.messages)),
      ...wire,
      ...(schema !== null && { output_config: { ...objectAt(wire, 'output_config'), ...schema } }),
      ...claudeTools(request),
      ...(endUser !== undefined && { metadata: { user_id: endUser } }),
    },
    ignored,
  };
}

interface ClaudeMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly object[];
}

/** Some hosts of Claude refuse a conversation that begins with the assistant, as a truncated one may. */
function startWithUser(messages: readonly ClaudeMessage[]): readonly ClaudeMessage[] {
  return messages[0]?.role === 'assistant' ? [{ role: 'user', content: '…' }, ...messages] : messages;
}

/** All results of one round of tool calls must be in one message. */
function claudeMessages(messages: readonly TextMessage[]): ClaudeMessage[] {
  const written: ClaudeMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool') {
      written.push(...claudeMessage(message));
      continue;
    }
    const result = { type: 'tool_result', tool_use_id: message.toolCallId, content: message.content };
    const before = messages[index - 1]?.role === 'tool' ? written.pop()?.content : undefined;
    written.push({ role: 'user', content: [...(typeof before === 'object' ? before : []), result] });
  }
  return written;
}

/**
 * Images and what the model thought are blocks before the text, tool calls blocks after it. Anthropic refuses blank texts: a blank
 * turn of the assistant is left out, one of the user stays as an ellipsis.
 */
function claudeMessage({ role, content, images = [], toolCalls = [], reasoning = [] }: TextMessage): ClaudeMessage[] {
  const speaker = role === 'assistant' ? role : 'user';
  const isBlank = content.trim() === '';
  const thoughts = isBlank && toolCalls.length === 0 ? [] : reasoning.filter(({ format }) => format === 'messages');
  if (images.length === 0 && toolCalls.length === 0 && thoughts.length === 0) {
    if (!isBlank) return [{ role: speaker, content }];
    return speaker === 'assistant' ? [] : [{ role: speaker, content: '…' }];
  }
  const seen = images.map((image) => ({
    type: 'image',
    source: { type: 'base64', media_type: image.mimeType, data: base64Of(image) },
  }));
  const calls = toolCalls.map((call) => ({
    type: 'tool_use',
    id: call.id,
    name: call.name,
    input: requireArguments(call),
  }));
  const thinking = thoughts.flatMap(({ item }) => (item === undefined ? [] : [item]));
  return [
    { role: speaker, content: [...thinking, ...seen, ...(isBlank ? [] : [{ type: 'text', text: content }]), ...calls] },
  ];
}

function claudeTools({ tools, toolChoice, parallelToolCalls }: TextRequest): JsonObject {
  if (tools === undefined) return {};
  // Anthropic sets both with one member.
  const single = parallelToolCalls === undefined ? {} : { disable_parallel_tool_use: !parallelToolCalls };
  const chosen = toolChoice ?? (parallelToolCalls === undefined ? undefined : 'auto');
  return {
    tools: tools.map(({ name, description, parameters, strict }) => ({
      name,
      ...(description !== undefined && { description }),
      input_schema: { properties: {}, ...parameters, type: 'object' },
      ...(strict !== undefined && { strict }),
    })),
    ...(chosen !== undefined && { tool_choice: { ...claudeToolChoice(chosen), ...(chosen !== 'none' && single) } }),
  };
}

function claudeToolChoice(choice: ToolChoice): JsonObject {
  if (typeof choice === 'object') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
}
