import { bearer, jsonResponse, Refusal, sandboxKey } from '../fake.ts';
import type { FakeProvider, FakeErrors, FakeResponse, FakeRequest, FakeRoute } from '../fake.ts';
import { chatCompletion } from './chat-completions.ts';
import type { ChatDialect } from './chat-dialect.ts';
import { problemReply } from './chat-problems.ts';
import { embeddings } from './openai-embeddings.ts';
import type { EmbeddingsDialect } from './openai-embeddings.ts';
import { imageEdits } from './openai-image-edits.ts';
import { imageGenerations } from './openai-images.ts';
import type { ImagesDialect } from './openai-images.ts';

/** Release date of everything the fakes list, in seconds since the epoch. */
export const released = 1735689600;

export interface ChatFakeParts {
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
  readonly refuse?: (request: FakeRequest) => FakeResponse | null;
  readonly routes?: readonly FakeRoute[];
}

/** The fake of a provider that speaks OpenAI's format: completions, the list of models and single models. */
export function createChatFake(parts: ChatFakeParts): FakeProvider {
  const { dialect, base, embeddingModels = [], imageModels = [] } = parts;
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
      ...mediaRoutes(parts, escaped),
      {
        method: 'GET',
        path: new RegExp(`^${escaped}/models$`),
        handle: () => jsonResponse(200, { object: 'list', ...parts.list, data: listed.map(parts.model) }),
      },
      {
        method: 'GET',
        path: new RegExp(`^${escaped}/models/(?<model>.+)$`),
        handle: ({ params: { model = '' } }) => {
          if (model.startsWith('missing-')) throw new Refusal(problemReply(dialect, 'unknown_model', { model }));
          return jsonResponse(200, parts.model(model));
        },
      },
      ...(parts.routes ?? []),
    ],
  };
}

/** The settings that name the default models; those of what a provider cannot do are left out. */
export function defaultModels(
  fake: Pick<FakeProvider, 'models' | 'embeddingModels' | 'imageModels'>,
): Readonly<Record<string, string>> {
  const named = {
    model: fake.models[0],
    embedding_model: fake.embeddingModels?.[0],
    image_model: fake.imageModels?.[0],
  };
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, model]) => (model === undefined ? [] : [[name, model]])),
  );
}

/** Wants `Authorization: Bearer sandbox`. */
export function refuseBearer(dialect: ChatDialect, request: FakeRequest): FakeResponse | null {
  const key = bearer(request.headers);
  if (key === sandboxKey) return null;
  return key === '' ? problemReply(dialect, 'no_key') : problemReply(dialect, 'bad_key', { key });
}

export function chatErrors(dialect: ChatDialect): FakeErrors {
  return {
    unknownPath: ({ method, path }) => problemReply(dialect, 'unknown_path', { method, path }),
    badJson: () => problemReply(dialect, 'bad_json'),
    tooLarge: () => problemReply(dialect, 'too_large'),
    rateLimited: (model, retryAfter) => problemReply(dialect, 'rate_limited', { model, retryAfter }),
    serverError: () => problemReply(dialect, 'server_error'),
  };
}

/** Embeddings and images, where the dialect has them. */
function mediaRoutes({ dialect, embeddingModels }: ChatFakeParts, escaped: string): FakeRoute[] {
  return [
    ...((embeddingModels ?? []).length > 0
      ? [
          {
            method: 'POST' as const,
            path: new RegExp(`^${escaped}/embeddings$`),
            handle: (request: FakeRequest) => embeddings(dialect, request),
          },
        ]
      : []),
    ...(dialect.images
      ? [
          {
            method: 'POST' as const,
            path: new RegExp(`^${escaped}/images/generations$`),
            handle: (request: FakeRequest) => imageGenerations(dialect, request),
          },
        ]
      : []),
    ...(dialect.images?.edits === true
      ? [
          {
            method: 'POST' as const,
            path: new RegExp(`^${escaped}/images/edits$`),
            handle: (request: FakeRequest) => imageEdits(dialect, request),
          },
        ]
      : []),
  ];
}
