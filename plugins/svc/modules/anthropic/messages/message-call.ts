import { setImmediate as nextTurn } from 'node:timers/promises';
import { asRecord } from '#plugin-api';
import { createImageAddresses } from '../../../ai/image-addresses.ts';
import type { ConversationMessage } from '../../../ai/system-text.ts';
import type { AiParams } from '../../../kit/ai-params.ts';
import { callerOf, isLenient } from '../../../kit/caller.ts';
import { errors } from '../../../kit/errors.ts';
import { requireSentScopes } from '../../../kit/sent-scopes.ts';
import { findModel, type ChosenModel } from '../../../settings/find-model.ts';
import type { AnthropicPorts, AnthropicRequest } from '../anthropic-ports.ts';
import { botCall } from './bot-call.ts';
import { notSupported, type GivenMessage, type RunMessage } from './given-message.ts';
import { nativeRequest } from './native-request.ts';
import { readMessages, readSystem } from './read-messages.ts';
import { readAiParams } from './read-params.ts';
import { readExtras } from './read-tools.ts';
import { noteMembers, type Reading } from './reading.ts';
import { textCall } from './text-call.ts';

export interface MessageCall {
  /** As requested. */
  readonly model: string;
  readonly stream: boolean;
  readonly run: RunMessage;
}

/** Members that are read, and those that another format may leave out. */
const known = {
  read: [
    ...['model', 'messages', 'system', 'max_tokens', 'stream', 'temperature', 'top_p', 'top_k', 'stop_sequences'],
    ...['thinking', 'output_config', 'output_format', 'tools', 'tool_choice', 'metadata'],
  ],
  spared: ['cache_control', 'service_tier', 'context_management'],
};

/** A validated call. @throws RestError 400 or 404 that names the parameter */
export async function readMessageCall(request: AnthropicRequest, ports: AnthropicPorts): Promise<MessageCall> {
  const given = await readGiven(request, ports);
  const { params } = request;
  const run =
    given.chosen.kind === 'bot' ? botCall(given.chosen.id, given, ports) : textCall(given.chosen, given, ports);
  return { model: String(params['model']), stream: params['stream'] === true, run };
}

/** Reads a request whole. */
export async function readGiven(request: AnthropicRequest, ports: AnthropicPorts): Promise<GivenMessage> {
  const { params } = request;
  const body = asRecord(request.json);
  const caller = callerOf(request);
  const chosen = await findModel(String(params['model']), ports, caller);
  const isNative = await servesMessages(chosen, ports);
  const isSpared = isLenient(request) && !isNative;
  if (chosen.kind === 'provider')
    requireSentScopes(body, { format: 'messages', provider: chosen.provider, caller, isSpared });
  const reading: Reading = { isNative, images: createImageAddresses(ports.host.http), needed: [], spared: [] };
  noteMembers(body, '', { ...known, reading });
  // Images are decoded apart from the parsing of the body, so that other requests go on between (D46).
  await nextTurn();
  const given = params['messages'] as readonly unknown[];
  const messages = [...readSystem(params['system'], reading), ...readMessages(given, reading)];
  // What the model does not take is named before what is missing without it.
  const isEmpty = messages.every(isBlank) && (reading.needed.length === 0 || isLenient(request));
  if (!isNative && isEmpty) throw errors.invalid_messages({ data: { param: 'messages' } });
  const extras = readExtras(params, reading);
  const ai_params = await withoutNeedlessEffort(readAiParams(params, reading), chosen, ports);
  const native = nativeRequest(request, body, { params: ai_params, reading });
  if (chosen.kind === 'bot' && native.needed.length > 0 && !isLenient(request)) {
    const [param = ''] = native.needed;
    throw notSupported(param, `bot:${String(chosen.id)}`);
  }
  return { chosen, messages, params: ai_params, extras, native, reading, request };
}

function isBlank({ content, images = [], toolCalls = [] }: ConversationMessage): boolean {
  return content.trim() === '' && images.length === 0 && toolCalls.length === 0;
}

/** Whether the provider gets the request as it was sent. */
async function servesMessages(chosen: ChosenModel, { providers, settings }: AnthropicPorts): Promise<boolean> {
  if (chosen.kind !== 'provider') return false;
  const { provider, model } = chosen;
  return providers.get(provider)?.text?.format?.(model, await settings.provider(provider)) === 'messages';
}

/** A model that does not think needs no effort that turns it off. */
async function withoutNeedlessEffort(
  params: AiParams,
  chosen: ChosenModel,
  { providers, settings }: AnthropicPorts,
): Promise<AiParams> {
  const { reasoning_effort: effort, ...rest } = params;
  if (effort !== 'none' || chosen.kind !== 'provider') return params;
  const { provider, model } = chosen;
  const { text } = providers.get(provider) ?? {};
  const asked = { params: { reasoning_effort: effort }, model, settings: await settings.provider(provider) };
  return text?.unsupportedParams?.(asked).includes('reasoning_effort') === true ? rest : params;
}
