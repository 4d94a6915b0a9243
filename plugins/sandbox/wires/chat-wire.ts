import { bearer, jsonReply, Refusal, sandboxKey } from '../wire.ts';
import type { Wire, WireErrors, WireReply, WireRequest, WireRoute } from '../wire.ts';
import { chatCompletion } from './chat-completions.ts';
import type { ChatDialect } from './chat-dialect.ts';
import { problemReply } from './chat-problems.ts';
import { embeddings } from './openai-embeddings.ts';
import type { EmbeddingsDialect } from './openai-embeddings.ts';
import { imageEdits } from './openai-image-edits.ts';
import { imageGenerations } from './openai-images.ts';
import type { ImagesDialect } from './openai-images.ts';

/** Release date of everything the stand-ins list, in seconds since the epoch. */
export const released = 1735689600;

export interface ChatWireParts {
  readonly id: string;
  readonly dialect: ChatDialect & { readonly embeddings?: EmbeddingsDialect; readonly images?: ImagesDialect };
  /** Path between the provider's root and `/chat/completions`, for example `/v1`. */
  readonly base: string;
  readonly models: readonly string[];
  /** Models for embeddings; left out: the provider makes none. */
  readonly embeddingModels?: readonly string[];
  /** Models for images, asked at `/images/generations` where the dialect has a word on it. */
  readonly imageModels?: readonly string[];
  /** One entry of the list of models. */
  readonly model: (id: string) => Readonly<Record<string, unknown>>;
  /** Members of the list beside `data`. */
  readonly list?: Readonly<Record<string, unknown>>;
  readonly refuse?: (request: WireRequest) => WireReply | null;
  readonly routes?: readonly WireRoute[];
}

/** The stand-in of a provider that speaks OpenAI's format: completions, the list of models and single models. */
export function chatWire(parts: ChatWireParts): Wire {
  const { dialect, base, embeddingModels = [], imageModels = [] } = parts;
  const edits = dialect.images?.edits === true;
  const listed = [...parts.models, ...embeddingModels, ...imageModels];
  const escaped = base.replace(/[.]/g, '\\.');
  return {
    id: parts.id,
    label: dialect.label,
    models: parts.models,
    embeddingModels,
    imageModels,
    settings: (root) => ({
      api_key: sandboxKey,
      base_url: root + base,
      ...defaultModels({ models: parts.models, embeddingModels, imageModels }),
    }),
    refuse: parts.refuse ?? ((request) => refuseBearer(dialect, request)),
    errors: chatErrors(dialect),
    routes: [
      {
        method: 'POST',
        path: new RegExp(`^${escaped}/chat/completions$`),
        handle: (request) => chatCompletion(dialect, request),
      },
      ...(embeddingModels.length > 0
        ? [
            {
              method: 'POST' as const,
              path: new RegExp(`^${escaped}/embeddings$`),
              handle: (request: WireRequest) => embeddings(dialect, request),
            },
          ]
        : []),
      ...(dialect.images
        ? [
            {
              method: 'POST' as const,
              path: new RegExp(`^${escaped}/images/generations$`),
              handle: (request: WireRequest) => imageGenerations(dialect, request),
            },
          ]
        : []),
      ...(edits
        ? [
            {
              method: 'POST' as const,
              path: new RegExp(`^${escaped}/images/edits$`),
              handle: (request: WireRequest) => imageEdits(dialect, request),
            },
          ]
        : []),
      {
        method: 'GET',
        path: new RegExp(`^${escaped}/models$`),
        handle: () => jsonReply(200, { object: 'list', ...parts.list, data: listed.map(parts.model) }),
      },
      {
        method: 'GET',
        path: new RegExp(`^${escaped}/models/(?<model>.+)$`),
        handle: ({ params: { model = '' } }) => {
          if (model.startsWith('missing-')) throw new Refusal(problemReply(dialect, 'unknown_model', { model }));
          return jsonReply(200, parts.model(model));
        },
      },
      ...(parts.routes ?? []),
    ],
  };
}

/** The settings that name the default models; those of what a provider cannot do are left out. */
export function defaultModels(
  wire: Pick<Wire, 'models' | 'embeddingModels' | 'imageModels'>,
): Readonly<Record<string, string>> {
  const named = {
    model: wire.models[0],
    embedding_model: wire.embeddingModels?.[0],
    image_model: wire.imageModels?.[0],
  };
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, model]) => (model === undefined ? [] : [[name, model]])),
  );
}

/** Wants `Authorization: Bearer sandbox`. */
export function refuseBearer(dialect: ChatDialect, request: WireRequest): WireReply | null {
  const key = bearer(request.headers);
  if (key === sandboxKey) return null;
  return key === '' ? problemReply(dialect, 'no_key') : problemReply(dialect, 'bad_key', { key });
}

export function chatErrors(dialect: ChatDialect): WireErrors {
  return {
    unknownPath: ({ method, path }) => problemReply(dialect, 'unknown_path', { method, path }),
    badJson: () => problemReply(dialect, 'bad_json'),
    tooLarge: () => problemReply(dialect, 'too_large'),
    rateLimited: (model, retryAfter) => problemReply(dialect, 'rate_limited', { model, retryAfter }),
    serverError: () => problemReply(dialect, 'server_error'),
  };
}
