import { bearer, jsonReply, Refusal, sandboxKey } from '../wire.ts';
import type { Wire, WireErrors, WireReply, WireRequest, WireRoute } from '../wire.ts';
import { chatCompletion } from './chat-completions.ts';
import type { ChatDialect } from './chat-dialect.ts';
import { problemReply } from './chat-problems.ts';

/** Release date of everything the stand-ins list, in seconds since the epoch. */
export const released = 1735689600;

export interface ChatWireParts {
  readonly id: string;
  readonly dialect: ChatDialect;
  /** Path between the provider's root and `/chat/completions`, for example `/v1`. */
  readonly base: string;
  readonly models: readonly string[];
  /** One entry of the list of models. */
  readonly model: (id: string) => Readonly<Record<string, unknown>>;
  /** Members of the list beside `data`. */
  readonly list?: Readonly<Record<string, unknown>>;
  readonly refuse?: (request: WireRequest) => WireReply | null;
  readonly routes?: readonly WireRoute[];
}

/** The stand-in of a provider that speaks OpenAI's format: completions, the list of models and single models. */
export function chatWire(parts: ChatWireParts): Wire {
  const { dialect, base } = parts;
  const escaped = base.replace(/[.]/g, '\\.');
  return {
    id: parts.id,
    label: dialect.label,
    models: parts.models,
    settings: (root) => ({ api_key: sandboxKey, base_url: root + base, model: parts.models[0] ?? '' }),
    refuse: parts.refuse ?? ((request) => refuseBearer(dialect, request)),
    errors: chatErrors(dialect),
    routes: [
      { method: 'POST', path: new RegExp(`^${escaped}/chat/completions$`), handle: (request) => chatCompletion(dialect, request) },
      { method: 'GET', path: new RegExp(`^${escaped}/models$`), handle: () => jsonReply(200, { object: 'list', ...parts.list, data: parts.models.map(parts.model) }) },
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
