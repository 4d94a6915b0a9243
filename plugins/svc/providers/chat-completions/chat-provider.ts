import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
} from 'openai/resources/chat/completions';
import { isOpenAiHint } from '../../kit/text-hints.ts';
import type { TextFeature } from '../../kit/tools.ts';
import { createTextCapability } from '../unsupported-params.ts';
import type { ParamRules } from '../params.ts';
import {
  type ModelInfo,
  type Provider,
  type ProviderConnection,
  type TextCapability,
  type TextRequest,
  type TextResult,
  ProviderError,
  type ProviderSettings,
} from '../provider.ts';
import { keepUsage } from '../provider-errors.ts';
import { readJson, sdkTimeout, withTimeLimit } from '../time-limit.ts';
import { readEvents } from '../streams/read-events.ts';
import { isListedModel, reasoningField, visionField } from '../settings-fields.ts';
import { createChatClients, type ChatAccessOf } from './chat-client.ts';
import { chatRequest } from './chat-request.ts';
import { chatModels, chatReport, chatResponse } from './chat-response.ts';
import { createChatStream } from './chat-stream.ts';
import { createReasoningHabits } from './strip-reasoning.ts';

export interface ChatProviderInit extends Pick<Provider, 'id' | 'label' | 'images' | 'embeddings'> {
  /** Names of the required settings; default: the key. */
  readonly required?: Provider['required'];
  /** The settings by name. */
  readonly fields: Provider['settings']['properties'];
  readonly rules: ParamRules;
  readonly access: ChatAccessOf;
  readonly sees?: NonNullable<TextCapability['sees']>;
  readonly reportsCost?: boolean;
  /** Whether texts may begin with reasoning without an opening tag, or whether a server may be anyone's. Default: it may. */
  readonly mixesReasoning?: boolean | ((settings: ProviderSettings) => boolean);
  /** Features that the upstream does not have. Default: it has all. */
  readonly lacks?: readonly TextFeature[];
  /** Whether it has the members that OpenAI alone has, such as `prompt_cache_key`. Default: false. */
  readonly takesOpenAiHints?: boolean;
  /** Whether the upstream supports `stream_options` for the usage of a stream. Default: true. */
  readonly countsStreams?: (settings: ProviderConnection['settings']) => boolean;
  /** Path of the model list below the base URL; default `/models`. */
  readonly modelsPath?: string;
  /** Runs before models are listed, for an upstream whose list is public. */
  readonly checkKey?: (get: (path: string) => Promise<Response>) => Promise<void>;
  /** Models from the settings, which replace the listed ones. */
  readonly ownModels?: (settings: ProviderConnection['settings']) => readonly ModelInfo[];
}

/** A provider with OpenAI's Chat Completions API (D9), using the `openai` package. */
export function createChatProvider(init: ChatProviderInit): Provider {
  const getClient = createChatClients();
  const habits = createReasoningHabits(init.mixesReasoning ?? (() => true));
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
      const read = () => chatResponse(received, request, connection);
      return { ignored, ...(await keepUsage(() => chatReport(received['usage']), read)) };
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

  const { id, label, fields, required = ['api_key'], rules, images, embeddings, sees, reportsCost, lacks = [] } = init;
  const supports = (feature: TextFeature): boolean =>
    !lacks.includes(feature) && (init.takesOpenAiHints === true || !isOpenAiHint(feature));
  return {
    id,
    label,
    load: () => import('openai'),
    settings: {
      type: 'object',
      properties: { ...fields, vision_models: visionField, reasoning_models: reasoningField },
    },
    required,
    text: createTextCapability({
      rules,
      generate,
      stream,
      supports,
      sees: (model, settings) => sees?.(model, settings) === true || isListedModel('vision_models', model, settings),
      ...(reportsCost && { reportsCost }),
    }),
    ...(images && { images }),
    ...(embeddings && { embeddings }),
    listModels,
  };
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
