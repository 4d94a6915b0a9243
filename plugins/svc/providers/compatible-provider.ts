import { isUrl, type JsonSchema } from '#plugin-api';
import type { TextFeature } from '../kit/tools.ts';
import { createChatProvider } from './chat-completions/chat-provider.ts';
import { createOpenAiEmbeddings, openAiLimits } from './embeddings/openai-embeddings.ts';
import { findImageRules } from './images/image-rules.ts';
import { createOpenAiImages, openAiImageModels } from './images/openai-image-models.ts';
import type { ParamNames } from './params.ts';
import { upstreamErrorKinds } from '../kit/upstream-error.ts';
import {
  ProviderError,
  type EmbeddingCapability,
  type Provider,
  type ProviderErrorKind,
  type ProviderSettings,
} from './provider.ts';
import { accessAt, compatibleNames, providerFields } from './settings-fields.ts';

declare module '#plugin-api' {
  interface ServiceMap {
    'svc.providers': ProviderFactory;
  }
}

/** A provider with OpenAI's interface. */
export interface CompatibleProvider {
  /** Lower-case letters and digits; the value of `provider` in requests. */
  readonly id: string;
  readonly label: string;
  /** Base URL with the version, such as `https://api.example.com/v1`. An administrator can change it. */
  readonly address: string;
  /** Where the key comes from, for the settings page. */
  readonly keyHelp?: string;
  /** Default models. Without `embedding_model` it creates no embeddings, without `image_model` no images. */
  readonly models: { readonly model: string; readonly embedding_model?: string; readonly image_model?: string };
  /** Names in requests by key of `ai_params`. Default: all that OpenAI has, with `max_tokens`. Others are left out. */
  readonly params?: ParamNames;
  /** Features that the upstream does not have. Default: it has all. */
  readonly lacks?: readonly TextFeature[];
  /** Whether a model reads images. Default: none does. */
  readonly sees?: (model: string) => boolean;
  /** Limits of a call for embeddings. Default: those of OpenAI. */
  readonly embeddingLimits?: EmbeddingCapability['limits'];
  /** Further settings by name, shown below the usual ones. */
  readonly settings?: Readonly<Record<string, JsonSchema>>;
  /** Sent with each request. */
  readonly headers?: (settings: ProviderSettings) => Readonly<Record<string, string>>;
}

/** The service `svc.providers`, for plugins that add a provider with the filter `svc_providers`. */
export interface ProviderFactory {
  /**
   * Text with streams, functions and formats, models, and embeddings and images if they have default models. The same object
   * gives the same provider, whose connections are kept: describe it once, outside of the filter.
   *
   * @throws Error if the address is no URL or there is no text model.
   */
  openAiCompatible(description: CompatibleProvider): Provider;
  /**
   * An error for a provider's own code to throw. The kind decides the response: `auth` (the upstream refuses the key),
   * `rejected` (it refuses the request), `rate_limited`, `unavailable`, `unreadable` (a response that cannot be read), `connection`,
   * `timeout` and `aborted`. `rate_limited`, `unavailable` and `connection` are tried again.
   *
   * @param message a sentence without secrets, which follows `<name> failed: `.
   * @throws TypeError if the kind is unknown.
   */
  error(kind: ProviderErrorKind, message: string, details?: ProviderErrorDetails): Error;
}

export interface ProviderErrorDetails {
  /** HTTP status of the upstream's response. */
  readonly status?: number;
  /** Seconds to wait, as the upstream requests. */
  readonly retryAfter?: number;
  readonly cause?: unknown;
}

export function createProviderFactory(): ProviderFactory {
  const made = new WeakMap<CompatibleProvider, Provider>();
  return {
    openAiCompatible(description) {
      const known = made.get(description);
      if (known) return known;
      const provider = createCompatible(description);
      made.set(description, provider);
      return provider;
    },
    error(kind, message, details = {}) {
      if (!upstreamErrorKinds.includes(kind))
        throw new TypeError(`'${String(kind)}' is no kind of error. Use one of: ${upstreamErrorKinds.join(', ')}.`);
      return new ProviderError({ kind, message, ...details });
    },
  };
}

function createCompatible(description: CompatibleProvider): Provider {
  const { id, label, address, keyHelp = '', models, params = compatibleNames, lacks, sees, headers } = description;
  if (!isUrl(address) || !/^https?:/.test(address))
    throw new Error(`The address of the provider '${id}' must be a URL with http or https and the version.`);
  if (!models?.model) throw new Error(`The provider '${id}' needs a default model for text in 'models.model'.`);
  const base = accessAt(address);
  const access: typeof base = (settings, model) => ({
    ...base(settings, model),
    ...(headers && { headers: headers(settings) }),
  });
  const { embeddingLimits = openAiLimits } = description;
  return createChatProvider({
    id,
    label,
    fields: { ...providerFields({ key: keyHelp, address, models }), ...description.settings },
    rules: { names: params },
    access,
    ...(lacks && { lacks }),
    ...(sees && { sees }),
    ...(models.embedding_model && {
      embeddings: createOpenAiEmbeddings({ access, takes: ['dimensions', 'encodingFormat'], limits: embeddingLimits }),
    }),
    ...(models.image_model && {
      images: createOpenAiImages({ access, rules: (model) => findImageRules(openAiImageModels, model) }),
    }),
  });
}
