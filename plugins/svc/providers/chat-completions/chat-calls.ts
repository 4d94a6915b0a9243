import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
} from 'openai/resources/chat/completions';
import { ProviderError, type ModelInfo, type Provider, type ProviderConnection } from '../provider.ts';
import type { ProviderSettings, TextCapability, TextRequest, TextResult } from '../provider.ts';
import { listAt, objectAt, usageIn, type JsonObject } from '../json.ts';
import { keepUsage } from '../provider-errors.ts';
import { readEvents } from '../streams/read-events.ts';
import { readJson, sdkTimeout, withTimeLimit } from '../time-limit.ts';
import { createChatClients } from './chat-client.ts';
import type { ChatProviderInit } from './chat-provider.ts';
import { chatRequest } from './chat-request.ts';
import { chatModels, chatReport, chatResponse, contentText } from './chat-response.ts';
import { createChatStream } from './chat-stream.ts';
import { createReasoningHabits, hasLoneClosing, thinksInText } from './strip-reasoning.ts';

type ChatCalls = Pick<TextCapability, 'generate'> &
  Required<Pick<TextCapability, 'stream'>> &
  Pick<Provider, 'listModels'>;

/** The calls of a provider with OpenAI's Chat Completions API. */
export function createChatCalls(
  init: Pick<
    ChatProviderInit,
    'access' | 'checkKey' | 'countsStreams' | 'mixesReasoning' | 'modelsPath' | 'ownModels' | 'rules'
  >,
): ChatCalls {
  const getClient = createChatClients();
  const habits = createReasoningHabits(init.mixesReasoning ?? (() => true));
  /** A whole text shows as well as a stream whether the next stream must be held back. */
  const noteHabit = (received: JsonObject, model: string, settings: ProviderSettings): void => {
    const text = contentText(objectAt(listAt(received, 'choices')[0], 'message')['content']);
    if (text !== '') habits.note(model, hasLoneClosing(text, thinksInText(model, settings)));
  };
  const generate = (request: TextRequest, connection: ProviderConnection): Promise<TextResult> =>
    withTimeLimit(connection, async (signal) => {
      const { body, ignored } = chatRequest(request, init.rules, connection.settings);
      const client = await getClient(init.access(connection.settings, request.model), connection);
      // The SDK's type is OpenAI's alone; the six providers differ.
      const params = body as unknown as ChatCompletionCreateParamsNonStreaming;
      const response = await client.chat.completions
        .create(params, { signal, timeout: sdkTimeout(connection) })
        .asResponse();
      const received = await readJson(response);
      const read = () => {
        const result = chatResponse(received, request, connection);
        noteHabit(received, request.model, connection.settings);
        return result;
      };
      return { ignored, ...(await keepUsage(() => chatReport(usageIn(received)), read)) };
    });

  const stream = requestUsage(init.countsStreams, (request, connection, { onText, options }) => {
    const reader = createChatStream({ ...request, habits }, connection, onText);
    const run = async (signal: AbortSignal): Promise<TextResult> => {
      const { body, ignored } = chatRequest(request, init.rules, connection.settings);
      const client = await getClient(init.access(connection.settings, request.model), connection);
      const params = { ...body, stream: true, ...options } as unknown as ChatCompletionCreateParamsStreaming;
      const response = await client.chat.completions
        .create(params, { signal, timeout: sdkTimeout(connection) })
        .asResponse();
      await readEvents({ response, connection }, reader);
      return { ignored, ...reader.result() };
    };
    return keepUsage(reader.report, () => withTimeLimit(connection, run));
  });

  const listModels = (connection: ProviderConnection): Promise<ModelInfo[]> =>
    withTimeLimit(connection, async (signal) => {
      const client = await getClient(init.access(connection.settings, null), connection);
      const get = (path: string): Promise<Response> =>
        client.get(path, { signal, timeout: sdkTimeout(connection) }).asResponse();
      await init.checkKey?.(get);
      const listed = chatModels(await readJson(await get(init.modelsPath ?? '/models')));
      const own = init.ownModels?.(connection.settings) ?? [];
      return own.length > 0 ? [...own] : listed;
    });

  return { generate, stream, listModels };
}

type OnText = (piece: string) => void;

interface StreamCall {
  readonly onText: OnText;
  /** Members of the body that request the usage; empty if the upstream does not support them. */
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * Requests the usage of a stream, which Chat Completions omits by default. If a compatible server refuses, the call is
 * repeated without it, and so are later calls of this process; tokens are then counted here (D25).
 */
function requestUsage(
  countsStreams: (settings: ProviderSettings) => boolean = () => true,
  stream: (request: TextRequest, connection: ProviderConnection, call: StreamCall) => Promise<TextResult>,
): (request: TextRequest, connection: ProviderConnection, onText: OnText) => Promise<TextResult> {
  const refusing = new Set<unknown>();
  return async (request, connection, onText) => {
    const { settings } = connection;
    if (!countsStreams(settings) || refusing.has(settings.base_url))
      return stream(request, connection, { onText, options: {} });
    try {
      return await stream(request, connection, { onText, options: { stream_options: { include_usage: true } } });
    } catch (error) {
      if (
        !(error instanceof ProviderError) ||
        error.kind !== 'rejected' ||
        !/stream_options|include_usage/.test(error.message)
      )
        throw error;
      refusing.add(settings.base_url);
      return stream(request, connection, { onText, options: {} });
    }
  };
}
