import type { Clock, JsonSchema, Logger } from '#plugin-api';
import type { AiParams, AiParamName } from '../kit/ai-params.ts';

/** Saved settings of one provider, secrets in plain text. Never logged, never sent to a browser. */
export interface ProviderSettings {
  readonly api_key?: string;
  /** Carries the version for openai, deepseek, xai, ollama and openrouter; not for claude, google and azure. */
  readonly base_url?: string;
  /** Default models, used where a caller names none. */
  readonly model?: string;
  readonly embedding_model?: string;
  readonly image_model?: string;
  /** Azure: `v1`, or a date for the classic interface. Claude: value of `anthropic-version`. */
  readonly api_version?: string;
  readonly [name: string]: unknown;
}

/** What a provider is given to make a call: everything from outside comes in here. */
export interface ProviderConnection {
  readonly settings: ProviderSettings;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds one exchange may take, answer read, 1 or more. */
  readonly timeout: number;
  /** Aborted when the caller gives up. */
  readonly signal?: AbortSignal;
}

export interface TextMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface TextRequest {
  readonly model: string;
  /** The system text after D7, or null. */
  readonly system: string | null;
  readonly messages: readonly TextMessage[];
  /** Already checked (D8); only keys that were given. */
  readonly params: AiParams;
}

export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
}

export interface TextResult {
  readonly content: string;
  /** Null when the provider reported none (D25). */
  readonly usage: Usage | null;
  /** The model that answered, as the provider names it, else the one asked for. */
  readonly model: string;
  /** Keys of `params` that this provider or model does not take (D8). */
  readonly ignored: readonly string[];
}

/** What a model makes. */
export type ModelKind = 'text' | 'embedding' | 'image';

export interface ModelInfo {
  readonly id: string;
  readonly label?: string;
  /** Where the upstream says so. */
  readonly kinds?: readonly ModelKind[];
}

export interface TextCapability {
  /** Names of `params` the provider takes at all. The README's table is made from it. */
  readonly params: Readonly<Partial<Record<AiParamName, string>>>;
  /** One try; throws ProviderError. Retries are made by the caller (D9). */
  generate(request: TextRequest, connection: ProviderConnection): Promise<TextResult>;
  /**
   * The same, with each piece of the text handed on as it arrives; all pieces together are the content. Left out: the far
   * end knows no streams. `connection.timeout` is for the whole answer.
   */
  stream?(request: TextRequest, connection: ProviderConnection, onText: (piece: string) => void): Promise<TextResult>;
}

/** Width and height in pixels, for example `1024x1024`. */
export type ImageSize = `${number}x${number}`;

export interface ImageRequest {
  readonly model: string;
  readonly prompt: string;
  /** Images asked of this one call: 1 up to what `perCall` says. */
  readonly n: number;
  readonly size?: ImageSize;
  readonly quality?: 'standard' | 'hd';
  readonly style?: 'vivid' | 'natural';
  /** What the caller would like; a provider that knows only one form answers that (D10 makes the other of it). */
  readonly responseFormat: 'url' | 'b64_json';
}

/** One image as the upstream returned it: an address or base64, at least one of them. */
export interface ImageOutput {
  readonly url: string | null;
  readonly b64_json: string | null;
  readonly revised_prompt: string | null;
  /** For example `image/png`, when the upstream says so. */
  readonly mimeType: string | null;
}

export interface ImageResult {
  /** At least one. */
  readonly images: readonly ImageOutput[];
  /** The upstream usage data, or null (contract 2.2). */
  readonly usage: Readonly<Record<string, unknown>> | null;
  readonly model: string;
  /** Names of fields of the request that this model does not take and that were left out. */
  readonly ignored: readonly string[];
}

/** An image sent upstream, checked by its bytes. */
export interface SourceImage {
  readonly bytes: Uint8Array;
  /** For example `image/png`. */
  readonly mimeType: string;
}

/** An image to edit, as the prompt says. */
export interface ImageEditRequest extends ImageRequest {
  readonly image: SourceImage;
  /** Its transparent areas are those that are to change; a PNG of the image's size. Only where `accepts` says `mask`. */
  readonly mask?: SourceImage;
}

/** What an image must be for a model to edit it. */
export interface ImageEditRules {
  readonly types: readonly string[];
  /** Bytes. */
  readonly most: number;
  /** Whether a mask may go with it. */
  readonly mask: boolean;
  /** Width and height must be the same. */
  readonly square?: boolean;
}

export interface ImageEditing {
  /** Null: this model edits no images. */
  accepts(model: string, settings: ProviderSettings): ImageEditRules | null;
  /** One try; throws ProviderError. */
  edit(request: ImageEditRequest, connection: ProviderConnection): Promise<ImageResult>;
}

/** What a model takes besides the prompt: forms offer no more than that. */
export interface ImageFields {
  readonly size: boolean;
  readonly quality: readonly ('standard' | 'hd')[];
  readonly style: boolean;
}

export interface ImageCapability {
  /** Left out: all of them, as far as anybody knows. */
  takes?(model: string, settings: ProviderSettings): ImageFields;
  /** Images one call of this model can give, 1 or more; more are reached by parallel calls (D10). */
  perCall(model: string, settings: ProviderSettings): number;
  /** One try; throws ProviderError. */
  generate(request: ImageRequest, connection: ProviderConnection): Promise<ImageResult>;
  /** Omitted: the provider only generates images. */
  readonly editing?: ImageEditing;
}

export interface EmbeddingRequest {
  readonly model: string;
  /** 1 up to what `limits` allows, none blank. */
  readonly input: readonly string[];
  /** Size of the vectors, where the model can choose it. */
  readonly dimensions?: number;
  readonly encodingFormat?: 'float' | 'base64';
  /** Google's names, for example `RETRIEVAL_QUERY`. */
  readonly taskType?: string;
  readonly outputDimensionality?: number;
  /** End-user identifier, for monitoring upstream. */
  readonly user?: string;
}

export interface EmbeddingResult {
  /** One per input, in the order of the inputs, all of one length. */
  readonly embeddings: readonly (readonly number[])[];
  /** The same vectors, where the upstream sent 32-bit floats: quicker to check and to write. `embeddings` may then be a getter that makes its arrays when asked. */
  readonly packed?: readonly Float32Array[];
  /** Null when the provider reported none (D25). */
  readonly usage: { readonly input_tokens: number; readonly total_tokens: number } | null;
  readonly model: string;
  /** Names of fields of the request that this provider does not take and that were left out. */
  readonly ignored: readonly string[];
}

export interface EmbeddingCapability {
  /** What one call may hold; more is split by the caller. `tokens`: over all inputs of a call, where the upstream has such a limit. */
  readonly limits: { readonly inputs: number; readonly tokens?: number };
  /** One try; throws ProviderError. */
  embed(request: EmbeddingRequest, connection: ProviderConnection): Promise<EmbeddingResult>;
}

/** One provider. A file `<id>.provider.ts` exports it as `provider`; the filter `svc_providers` adds those of other plugins. */
export interface Provider {
  /** Lower-case letters and digits; the value of `provider` in requests. */
  readonly id: string;
  /** The display name of answers (D6). */
  readonly label: string;
  /** Object schema of its settings: `title` and `description` make the form, `writeOnly` marks secrets, `default` fills the field. */
  readonly settings: JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };
  /** Names of settings that must be filled before a call can be made. */
  readonly required: readonly string[];
  readonly text?: TextCapability;
  readonly images?: ImageCapability;
  readonly embeddings?: EmbeddingCapability;
  /** The models the upstream offers to this account; throws ProviderError. */
  listModels(connection: ProviderConnection): Promise<ModelInfo[]>;
}

const kinds = [
  'auth',
  'rate_limited',
  'rejected',
  'unavailable',
  'unreadable',
  'connection',
  'timeout',
  'aborted',
] as const;

export type ProviderErrorKind = (typeof kinds)[number];

export interface ProviderErrorInit {
  readonly kind: ProviderErrorKind;
  /** The provider's own sentence, with secrets cut out; or ours when there was none. It follows "<provider> failed: ". */
  readonly message: string;
  /** HTTP status of the upstream response, or null without one. */
  readonly status?: number | null;
  /** Seconds the upstream asked to wait, or null. */
  readonly retryAfter?: number | null;
  readonly cause?: unknown;
}

/** An upstream error. Whether it is worth another try is decided here, once (D9). */
export class ProviderError extends Error {
  readonly kind: ProviderErrorKind;
  readonly status: number | null;
  readonly retryAfter: number | null;
  readonly retryable: boolean;

  constructor(init: ProviderErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'ProviderError';
    this.kind = init.kind;
    this.status = init.status ?? null;
    this.retryAfter = init.retryAfter ?? null;
    this.retryable =
      init.kind === 'rate_limited' || init.kind === 'unavailable' || init.kind === 'connection' || init.status === 408;
  }
}

/**
 * The ProviderError that was thrown, or null for any other error. A provider of another plugin cannot import the class:
 * an error of its own with a known `kind` counts.
 */
export function asProviderError(thrown: unknown): ProviderError | null {
  if (thrown instanceof ProviderError) return thrown;
  if (!(thrown instanceof Error) || !('kind' in thrown) || !kinds.includes(thrown.kind as ProviderErrorKind))
    return null;
  const { status, retryAfter } = thrown as { status?: unknown; retryAfter?: unknown };
  return new ProviderError({
    kind: thrown.kind as ProviderErrorKind,
    message: thrown.message,
    status: typeof status === 'number' ? status : null,
    retryAfter: typeof retryAfter === 'number' ? retryAfter : null,
    cause: thrown,
  });
}
