import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRecord, RestError, type Params, type User } from '#plugin-api';
import { generateForDoor } from '../../../ai/generate-for-door.ts';
import type { GeneratedText, GenerateTextInput, GivenRequest } from '../../../ai/generate-text.ts';
import type { ConversationMessage } from '../../../ai/system-text.ts';
import { callerOf, isLenient, requireScopes } from '../../../kit/caller.ts';
import { errors } from '../../../kit/errors.ts';
import { requireSentScopes } from '../../../kit/sent-scopes.ts';
import { aiParamSchemas, type AiParamName, type AiParams } from '../../../kit/ai-params.ts';
import { invalid, onlyMembers, optionalFlag } from '../../../kit/read-members.ts';
import type { TextExtras } from '../../../kit/tools.ts';
import { findModel, type ChosenModel } from '../../../settings/find-model.ts';
import { restOrigin } from '../../../kit/usage-origin.ts';
import type { OpenAiPorts, OpenAiRequest } from '../openai-ports.ts';
import { readParams } from '../read-params.ts';
import { createImageAddresses, type ImageAddresses } from '../../../ai/image-addresses.ts';
import { readMessages, withoutUnknownMembers } from './read-messages.ts';
import { openAiParameters } from '../openai.routes.ts';
import { readLoosely } from './read-loosely.ts';
import { readExtras } from './read-tools.ts';

const path = '/svc-openai/v1/chat/completions';

/** What a completion is made of: the text of a provider, or the reply of a chatbot. */
export type ChatResult = Pick<
  GeneratedText,
  'content' | 'usage' | 'providerId' | 'model' | 'ignored' | 'usageEstimated' | 'tokenDetails' | 'toolCalls' | 'finish'
> &
  Pick<GeneratedText, 'refusal' | 'reasoning' | 'annotations'>;

export interface ChatCall {
  /** As requested. */
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  run(signal: AbortSignal, watch?: ChatWatch): Promise<ChatResult>;
}

/** Called with the pieces of the text and of the reasoning as they arrive. */
export type ChatWatch = Pick<GenerateTextInput, 'onText' | 'onReasoning'>;

/** A validated call. @throws RestError 400 or 404 that names the parameter */
export async function readChatCall(request: OpenAiRequest, ports: OpenAiPorts): Promise<ChatCall> {
  const { params: asSent } = request;
  const model = String(asSent['model']);
  const stream = asSent['stream'] === true;
  const options = asSent['stream_options'] ?? undefined;
  if (options !== undefined && !stream) throw invalid('stream_options', 'is only allowed with stream: true.');
  // It pads the events of OpenAI's own stream.
  if (isRecord(options)) onlyMembers(options, 'stream_options', ['include_usage', 'include_obfuscation']);
  const includeUsage = isRecord(options) && optionalFlag(options['include_usage'], 'stream_options.include_usage');
  const chosen = await findModel(model, ports, callerOf(request));
  // Images are decoded apart from the parsing of the body, so that other requests go on between (D46).
  await nextTurn();
  const given = readGiven(request, ports, chosen);
  if (given.messages.every(isBlank)) throw errors.invalid_messages({ data: { param: 'messages' } });
  const run = chosen.kind === 'bot' ? botCall(chosen.id, given, ports) : textCall(chosen, given, ports);
  return { model, stream, includeUsage: includeUsage === true, run };
}

/**
 * A request in the words of the service. A vendor with OpenAI's format gets what was sent, so for it nothing is refused that cannot
 * be read here.
 */
function readGiven(request: OpenAiRequest, ports: OpenAiPorts, chosen: ChosenModel): GivenCall {
  const { json } = request;
  // A lenient key leaves out what the vendor would refuse (D41).
  if (chosen.kind === 'bot' || !isRecord(json) || isLenient(request)) return readStrictly(request, ports);
  const body = json;
  requireSentScopes(body, { format: 'chat', provider: chosen.provider, caller: callerOf(request) });
  const native = { format: 'chat', body, needed: [] } as const;
  try {
    const read = readStrictly(request, ports);
    const { images } = read;
    const namesImages = read.messages.some((one) => one.images?.some(({ url }) => url !== undefined) === true);
    return {
      ...read,
      native: { ...native, images, given: givenParams(read.params), spared: read.ignored, namesImages },
    };
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    const params: Params = Object.fromEntries(
      openAiParameters.chat.map((name) => [name, request.params[name] ?? undefined]),
    );
    const messages = readLoosely(params['messages'] as readonly unknown[]);
    const images = createImageAddresses(ports.host.http);
    return {
      ...{ params, messages, extras: {}, images, ignored: [], request },
      native: { ...native, images, given: givenParams(params), spared: [], refusal: error },
    };
  }
}

function givenParams(params: GivenCall['params']): readonly AiParamName[] {
  return (Object.keys(aiParamSchemas) as AiParamName[]).filter((name) => params[name] !== undefined);
}

/** @throws RestError 400 that names what cannot be read */
function readStrictly(request: OpenAiRequest, ports: OpenAiPorts): GivenCall {
  const ignored: string[] = [];
  const params = readParams(request, 'chat', ignored);
  if (params['max_tokens'] !== undefined && params['max_completion_tokens'] !== undefined)
    throw invalid('max_tokens', 'is an alias of max_completion_tokens. Send only one of them.');
  const images = createImageAddresses(ports.host.http);
  const sent = params['messages'] as readonly unknown[];
  const messages = readMessages(isLenient(request) ? withoutUnknownMembers(sent, ignored) : sent, images);
  return { params, messages, images, extras: readExtras(params), ignored, request };
}

function isBlank({ content, images = [], toolCalls = [] }: ConversationMessage): boolean {
  return content.trim() === '' && images.length === 0 && toolCalls.length === 0;
}

interface GivenCall {
  readonly params: Readonly<Record<string, unknown>>;
  readonly messages: readonly ConversationMessage[];
  readonly images: ImageAddresses;
  readonly extras: TextExtras;
  /** What was left out already. */
  readonly ignored: readonly string[];
  readonly request: OpenAiRequest;
  readonly native?: GivenRequest;
}

function readAiParams(params: GivenCall['params']): AiParams {
  const names = Object.keys(aiParamSchemas).filter((name) => params[name] !== undefined);
  const read: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, params[name]]));
  const { max_tokens: limit } = params;
  if (limit === undefined || read['max_completion_tokens'] !== undefined) return read;
  return { ...read, max_completion_tokens: limit as number };
}

function textCall(
  { provider, model }: Extract<ChosenModel, { kind: 'provider' }>,
  { params, messages, images, extras, ignored, request, native }: GivenCall,
  { host: { hooks }, generateText }: OpenAiPorts,
): ChatCall['run'] {
  const ai_params = readAiParams(params);
  return async (signal, { onText, onReasoning } = {}) => {
    // What a filter changes is the request in the words of the service.
    const isChanged = hooks.hasFilter('svc_text_request') !== false;
    if (isChanged && native?.refusal !== undefined) throw native.refusal;
    const call = await hooks.applyFiltersAsync(
      'svc_text_request',
      { provider, model, messages, ai_params, ...extras },
      request,
    );
    const { generated, isFiltered } = await generateForDoor(
      {
        ...{ request, call, path, signal, onText, onReasoning },
        loadImages: (named, stop) => images.load(named, stop),
        native: isChanged ? undefined : native,
      },
      { hooks, generateText },
    );
    if (isFiltered && generated.content !== '') onText?.(generated.content);
    const left = isChanged || native === undefined ? ignored : [];
    return { ...generated, ignored: [...generated.ignored, ...left] };
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
  return async (signal, { onText } = {}) => {
    requireScopes(callerOf(request), { chatbot: botId });
    const origin = { ...restOrigin(request, path), module: 'chatbots', botId };
    const reply = await botReplies.reply(botId, { messages: conversation, user, origin, signal, onText });
    return { ...reply, ignored: [...reply.ignored, ...ignored] };
  };
}
