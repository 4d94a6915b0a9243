import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRecord, type User } from '#plugin-api';
import type { GeneratedText } from '../../../ai/generate-text.ts';
import type { ConversationMessage } from '../../../ai/system-text.ts';
import { callerOf, isLenient, requireScopes } from '../../../kit/caller.ts';
import { errors } from '../../../kit/errors.ts';
import { aiParamSchemas, type AiParams } from '../../../kit/ai-params.ts';
import { invalid, onlyMembers, optionalFlag } from '../../../kit/read-members.ts';
import { findModel, type ChosenModel } from '../../../settings/find-model.ts';
import { restOrigin } from '../../../kit/usage-origin.ts';
import type { OpenAiPorts, OpenAiRequest } from '../openai-ports.ts';
import { readParams } from '../read-params.ts';
import { createImageAddresses, type ImageAddresses } from '../../../ai/image-addresses.ts';
import { readMessages, withoutUnknownMembers } from './read-messages.ts';
import { readExtras } from './read-tools.ts';

const path = '/svc-openai/v1/chat/completions';

/** What a completion is made of: the text of a provider, or the reply of a chatbot. */
export type ChatResult = Pick<
  GeneratedText,
  'content' | 'usage' | 'providerId' | 'model' | 'ignored' | 'usageEstimated' | 'tokenDetails' | 'toolCalls' | 'finish'
> &
  Pick<GeneratedText, 'refusal'>;

export interface ChatCall {
  /** As requested. */
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** @param onText called with each piece of the text */
  run(signal: AbortSignal, onText?: (piece: string) => void): Promise<ChatResult>;
}

/** A validated call. @throws RestError 400 or 404 that names the parameter */
export async function readChatCall(request: OpenAiRequest, ports: OpenAiPorts): Promise<ChatCall> {
  const ignored: string[] = [];
  const params = readParams(request, 'chat', ignored);
  const model = String(params['model']);
  const stream = params['stream'] === true;
  const options = params['stream_options'];
  if (options !== undefined && !stream) throw invalid('stream_options', 'is only allowed with stream: true.');
  // It pads the events of OpenAI's own stream.
  if (isRecord(options)) onlyMembers(options, 'stream_options', ['include_usage', 'include_obfuscation']);
  const includeUsage = isRecord(options) && optionalFlag(options['include_usage'], 'stream_options.include_usage');
  const chosen = await findModel(model, ports, callerOf(request));
  const images = createImageAddresses(ports.host.http);
  const sent = params['messages'] as readonly unknown[];
  // Images are decoded apart from the parsing of the body, so that other requests go on between (D46).
  await nextTurn();
  const messages = readMessages(isLenient(request) ? withoutUnknownMembers(sent, ignored) : sent, images);
  if (messages.every(isBlank)) throw errors.invalid_messages({ data: { param: 'messages' } });
  const given: GivenCall = { params, messages, images, ignored, request };
  const run = chosen.kind === 'bot' ? botCall(chosen.id, given, ports) : textCall(chosen, given, ports);
  return { model, stream, includeUsage: includeUsage === true, run };
}

function isBlank({ content, images = [], toolCalls = [] }: ConversationMessage): boolean {
  return content.trim() === '' && images.length === 0 && toolCalls.length === 0;
}

interface GivenCall {
  readonly params: Readonly<Record<string, unknown>>;
  readonly messages: readonly ConversationMessage[];
  readonly images: ImageAddresses;
  /** What was left out already. */
  readonly ignored: readonly string[];
  readonly request: OpenAiRequest;
}

function readAiParams(params: GivenCall['params']): AiParams {
  const names = Object.keys(aiParamSchemas).filter((name) => params[name] !== undefined);
  const read: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, params[name]]));
  const { max_tokens: limit } = params;
  if (limit === undefined) return read;
  if (read['max_completion_tokens'] !== undefined)
    throw invalid('max_tokens', 'is an alias of max_completion_tokens. Send only one of them.');
  return { ...read, max_completion_tokens: limit as number };
}

function textCall(
  { provider, model }: Extract<ChosenModel, { kind: 'provider' }>,
  { params, messages, images, ignored, request }: GivenCall,
  { host: { hooks }, generateText }: OpenAiPorts,
): ChatCall['run'] {
  const ai_params = readAiParams(params);
  const extras = readExtras(params);
  return async (signal, onText) => {
    const call = await hooks.applyFiltersAsync(
      'svc_text_request',
      { provider, model, messages, ai_params, ...extras },
      request,
    );
    // A filter needs the whole text.
    const isFiltered = hooks.hasFilter('svc_text_response') !== false;
    const generated = await generateText({
      ...call,
      systemInstruction: call.system_instruction,
      // Texts of other programs stay as they are.
      placeholders: false,
      params: call.ai_params,
      strict: !isLenient(request),
      lenient: isLenient(request),
      loadImages: (named, stop) => images.load(named, stop),
      acceptsEmpty: true,
      user: request.user,
      signal,
      origin: restOrigin(request, path),
      ...(!isFiltered && { onText }),
    });
    const result = { ...generated, ignored: [...generated.ignored, ...ignored] };
    if (!isFiltered) return result;
    const { content, usage } = await hooks.applyFiltersAsync(
      'svc_text_response',
      { content: result.content, usage: result.usage, provider: result.provider, model: result.model },
      call,
      request,
    );
    if (content !== '') onText?.(content);
    return { ...result, content, usage };
  };
}

/** Parameters that a chatbot cannot do without if they are sent: it has no tools, and its text no format. */
const refusedOfBots = ['tools', 'tool_choice', 'response_format'];
/** Parameters of a call to a chatbot. Its own settings decide the rest, which many clients always send. */
const botParams = ['model', 'messages', 'stream', 'stream_options', 'n'];

/** @throws RestError 400 `rest_svc_parameter_not_supported` for what a chatbot cannot do; what its settings decide is ignored */
function botCall(
  botId: number,
  { params, messages, ignored: leftOut, request }: GivenCall,
  { botReplies }: OpenAiPorts,
): ChatCall['run'] {
  const model = `bot:${String(botId)}`;
  const refuse = (param: string) =>
    errors.parameter_not_supported({ values: { provider: 'the chatbots', model, param }, data: { param, model } });
  const given = Object.keys(params).filter((name) => params[name] !== undefined);
  const refused = given.find((name) => refusedOfBots.includes(name));
  if (refused !== undefined) throw refuse(refused);
  const ignored = [...leftOut, ...given.filter((name) => !botParams.includes(name))];
  const conversation = messages.flatMap(({ role, content, images = [], toolCalls = [] }, index) => {
    const name = `messages[${String(index)}]`;
    if (role === 'tool') throw refuse(`${name}.role`);
    if (images.length > 0) throw refuse(`${name}.content`);
    if (toolCalls.length > 0) throw refuse(`${name}.tool_calls`);
    if (role !== 'system') return [{ role, content }];
    ignored.push(name);
    return [];
  });
  if (conversation.at(-1)?.role !== 'user' || conversation.at(-1)?.content.trim() === '')
    throw errors.invalid_last_message({ data: { param: 'messages' } });
  const user: Pick<User, 'id' | 'displayName' | 'roles'> = request.user;
  return async (signal, onText) => {
    requireScopes(callerOf(request), { chatbot: botId });
    const origin = { ...restOrigin(request, path), module: 'chatbots', botId };
    const reply = await botReplies.reply(botId, { messages: conversation, user, origin, signal, onText });
    return { ...reply, ignored: [...reply.ignored, ...ignored] };
  };
}
