import { RestError, type Clock, type JsonSchema, type Logger } from '#plugin-api';
import type { AiParams, AiParamName } from '../kit/ai-params.ts';
import type { SourceImage } from '../kit/image-params.ts';
import type { Reasoning, TextFormat } from '../kit/reasoning.ts';
import type { TextExtras, TextFeature, ToolCall } from '../kit/tools.ts';
import type { TokenDetails } from '../kit/token-details.ts';
import { UpstreamError, upstreamErrorKinds, upstreamErrorOf, type UpstreamErrorInit } from '../kit/upstream-error.ts';

/** Saved settings of one provider, secrets in plain text. Never logged, never sent to a browser. */
export interface ProviderSettings {
  readonly api_key?: string;
  /** Carries the version for openai, deepseek, xai, ollama and openrouter; not for claude, google and azure. */
  readonly base_url?: string;
  /** Default models, for requests without one. */
  readonly model?: string;
  readonly embedding_model?: string;
  readonly image_model?: string;
  readonly video_model?: string;
  /** Azure: `v1`, or a date for the classic interface. Claude: value of `anthropic-version`. */
  readonly api_version?: string;
  readonly [name: string]: unknown;
}

/** What a provider needs for a call. */
export interface ProviderConnection {
  readonly settings: ProviderSettings;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly log: Logger;
  /** Time limit of one exchange in milliseconds, until the body is read; 1 or more. */
  readonly timeout: number;
  /** Milliseconds until the first bytes of the response, and without further ones (D50). Default: `timeout`. */
  readonly firstByte?: number;
  readonly idle?: number;
  /** Aborted when the caller cancels. */
  readonly signal?: AbortSignal;
  /** Called by `stream` with each piece of the reasoning as it arrives; a vendor's item comes whole, with an empty text. */
  readonly onReasoning?: ((piece: Reasoning) => void) | undefined;
  /** Called by `stream` with each event of the content of a native request's answer, before `onText` gets its text. */
  readonly onEvent?: ((event: Readonly<Record<string, unknown>>) => void) | undefined;
}

/** An image for a model that `sees`: PNG, JPEG, GIF or WebP. */
export interface MessageImage extends SourceImage {
  /** How closely the model looks. Default: it decides. */
  readonly detail?: 'low' | 'high' | undefined;
  /** The address it is fetched from. `bytes` is empty until the call is allowed and its budget reserved (D46). */
  readonly url?: string | undefined;
  /** The bytes as they came, which spares decoding and encoding them: `bytes` may then be a getter. */
  readonly base64?: string | undefined;
}

export interface TextMessage {
  /** `tool`: what a function returned. */
  readonly role: 'user' | 'assistant' | 'tool';
  /** May be empty if there are images or calls of functions. */
  readonly content: string;
  /** They come before the text. */
  readonly images?: readonly MessageImage[] | undefined;
  /** Of an assistant: the functions it called. */
  readonly toolCalls?: readonly ToolCall[] | undefined;
  /** Of a tool: the id of the call. */
  readonly toolCallId?: string | undefined;
  /** Who wrote it, if several participants share a role. Only for a model that supports `messages.name`. */
  readonly name?: string | undefined;
  /** Of an assistant: what it thought before. A provider sends back the items in its format. */
  readonly reasoning?: readonly Reasoning[] | undefined;
}

/** A request as its caller sent it, in the format of an API: a provider with that API sends it on unchanged. */
export interface NativeRequest {
  readonly format: TextFormat;
  /** Its `model` is the name that the caller gave. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The `params` that the body has. One that is missing in the request's `params` was refused by the model, and is left out. */
  readonly given: readonly AiParamName[];
  /** Headers of that API which the caller sent, such as `anthropic-beta`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Extras come only for a model that `supports` them. */
export interface TextRequest extends TextExtras {
  readonly model: string;
  /** The system text after D7, or null. */
  readonly system: string | null;
  readonly messages: readonly TextMessage[];
  /** Validated (D8); only keys of the request. */
  readonly params: AiParams;
  /** Keys of `params` that may not be left out: if the upstream refuses one, the call fails. */
  readonly required?: readonly string[] | undefined;
  /** Only if `format` of the capability is its format. The rest of the request says the same, for estimates. */
  readonly native?: NativeRequest | undefined;
}

export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
}

/** What reading a response needs of its request. */
export type RequestedText = Pick<TextRequest, 'model'> & Partial<Pick<TextRequest, 'params' | 'native'>>;

/** What a provider reported of the usage of a text. */
export interface ReportedUsage {
  /** Null when the provider reported none (D25). */
  readonly usage: Usage | null;
  /** Whether the reported output leaves out a part of what was written: it is of the beginning of a text, or of its reasoning. */
  readonly isPartial?: boolean | undefined;
  /** Which of these tokens are billed at prices of their own (D32). Left out: none, or the provider does not report them. */
  readonly tokenDetails?: TokenDetails | undefined;
  /** What the provider says that it bills, in millionths of a US dollar; used if the capability `reportsCost`. */
  readonly reportedCost?: number | undefined;
}

/** What is known of a failed call, which the provider may bill (D51). */
export interface FailedUsage extends ReportedUsage {
  /** All that was received of the text, reasoning and calls of functions included, to estimate what was not reported. */
  readonly written?: string;
}

export interface TextResult extends ReportedUsage {
  /** Empty if the model only called functions, stopped at a stop sequence, or used up the length limit before it (`finish`). */
  readonly content: string;
  /** The model as the provider reports it, else the requested one. */
  readonly model: string;
  /** Keys of `params` that the provider or model does not support (D8). */
  readonly ignored: readonly string[];
  /** The functions that the model called. Omitted: none. */
  readonly toolCalls?: readonly ToolCall[];
  /** Why the text ended, unless by itself, at a stop sequence, or with calls of functions. */
  readonly finish?: 'length' | 'content_filter';
  /**
   * What the provider says instead of a text, or after a part of it: the model declined, or with an empty `content` and the
   * finish `content_filter` a filter withheld the text.
   */
  readonly refusal?: string;
  /** What the model thought, in order, if its vendor returns it. */
  readonly reasoning?: readonly Reasoning[] | undefined;
  /** Of a native request: the answer as its vendor wrote it. Its content may be missing after a stream, which passed it on in events. */
  readonly native?: Readonly<Record<string, unknown>> | undefined;
  /** Sources that the vendor names, as `annotations` of OpenAI's format. */
  readonly annotations?: readonly Readonly<Record<string, unknown>>[] | undefined;
}

/** A kind of output of a model. */
export type ModelKind = 'text' | 'embedding' | 'image' | 'video';

export interface ModelInfo {
  readonly id: string;
  readonly label?: string;
  /** If the upstream reports them. */
  readonly kinds?: readonly ModelKind[];
}

export interface TextCapability {
  /** Names of the supported `params`. The README's table is generated from it. */
  readonly params: Readonly<Partial<Record<AiParamName, string>>>;
  /** Whether `reportedCost` of its results is what the account is billed. Omitted: calls are priced by the price table. */
  readonly reportsCost?: boolean;
  /** Whether a model reads images. Omitted: none does. */
  sees?(model: string, settings: ProviderSettings): boolean;
  /**
   * The format of the API that serves a model. Omitted: none of these.
   *
   * @param sent the format of what the caller sent, which the vendor gets if it has several (D55)
   */
  format?(model: string, settings: ProviderSettings, sent?: TextFormat): TextFormat;
  /**
   * Whether the vendor fetches images and files that a request in that format names by address: only at its own public address,
   * since any other server may reach what is not public. Default: images are fetched here, and files are refused.
   */
  fetchesImages?(settings: ProviderSettings): boolean;
  /** Whether a model supports a feature. Omitted: it has none of them. */
  supports?(feature: TextFeature, model: string, settings: ProviderSettings): boolean;
  /** Tokens of a native request's input, as the vendor counts them for free. Omitted: it does not. */
  countTokens?(request: TextRequest, connection: ProviderConnection): Promise<number>;
  /** The given keys of `params` that the model does not support. Omitted: those that `params` of the capability lacks. */
  unsupportedParams?(given: {
    readonly params: AiParams;
    readonly model: string;
    readonly settings: ProviderSettings;
  }): readonly string[];
  /** One attempt; throws ProviderError. The caller retries (D9). */
  generate(request: TextRequest, connection: ProviderConnection): Promise<TextResult>;
  /**
   * The same, and passes on each piece of the text as it arrives; the pieces add up to the content. Omitted if the upstream
   * does not stream. `connection.timeout` is for the whole response.
   */
  stream?(request: TextRequest, connection: ProviderConnection, onText: (piece: string) => void): Promise<TextResult>;
}

/** Width and height in pixels, for example `1024x1024`. */
export type ImageSize = `${number}x${number}`;

export interface ImageRequest {
  readonly model: string;
  readonly prompt: string;
  /** Images of this call: 1 up to `perCall`. */
  readonly n: number;
  readonly size?: ImageSize;
  readonly quality?: 'standard' | 'hd';
  readonly style?: 'vivid' | 'natural';
  /** The preferred format. A provider with only one format returns that; it is converted (D10). */
  readonly responseFormat: 'url' | 'b64_json';
}

/** One image as the upstream returned it: a URL, base64, or both. */
export interface ImageOutput {
  readonly url: string | null;
  readonly b64_json: string | null;
  readonly revised_prompt: string | null;
  /** For example `image/png`, if the upstream reports it. */
  readonly mimeType: string | null;
}

export interface ImageResult {
  /** At least one. */
  readonly images: readonly ImageOutput[];
  /** The upstream usage data, or null (contract 2.2). */
  readonly usage: Readonly<Record<string, unknown>> | null;
  /** Which of its tokens are billed at prices of their own (D32). Omitted: as the details in `usage` say, in OpenAI's format. */
  readonly tokenDetails?: TokenDetails | undefined;
  readonly model: string;
  /** Names of request fields that were left out because the model does not support them. */
  readonly ignored: readonly string[];
}

export type { SourceImage };

export function base64Of(image: SourceImage & Pick<MessageImage, 'base64'>): string {
  if (image.base64 !== undefined) return image.base64;
  const { bytes } = image;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** A request to edit an image. */
export interface ImageEditRequest extends ImageRequest {
  readonly image: SourceImage;
  /** A PNG of the image's size; its transparent areas are edited. Only if `accepts` allows a `mask`. */
  readonly mask?: SourceImage;
}

/** Requirements for images that a model edits. */
export interface ImageEditRules {
  readonly types: readonly string[];
  /** Bytes. */
  readonly most: number;
  /** Whether a mask is supported. */
  readonly mask: boolean;
  /** Width and height must be the same. */
  readonly square?: boolean;
}

export interface ImageEditing {
  /** Null if the model cannot edit images. */
  accepts(model: string, settings: ProviderSettings): ImageEditRules | null;
  /** One attempt; throws ProviderError. */
  edit(request: ImageEditRequest, connection: ProviderConnection): Promise<ImageResult>;
}

/** Fields that a model supports besides the prompt. */
export interface ImageFields {
  readonly size: boolean;
  readonly quality: readonly ('standard' | 'hd')[];
  readonly style: boolean;
}

export interface ImageCapability {
  /** Omitted if unknown: forms then show all fields. */
  takes?(model: string, settings: ProviderSettings): ImageFields;
  /** Maximum images per call, 1 or more; more take parallel calls (D10). */
  perCall(model: string, settings: ProviderSettings): number;
  /** One attempt; throws ProviderError. */
  generate(request: ImageRequest, connection: ProviderConnection): Promise<ImageResult>;
  /** Omitted: the provider only generates images. */
  readonly editing?: ImageEditing;
}

export interface VideoRequest {
  readonly model: string;
  readonly prompt: string;
  /** The nearest supported one is used. Default: that of the model. */
  readonly size?: ImageSize;
  /** Length. Default: that of the model. */
  readonly seconds?: number;
}

/** A job that the upstream has accepted. It goes on there, whatever happens here. */
export interface VideoOperation {
  /** Name of the job at the upstream, at most 500 characters. */
  readonly name: string;
  readonly model: string;
  /** Length of the video, for its price. */
  readonly seconds: number;
  /** Names of request fields that were left out because the model does not support them. */
  readonly ignored: readonly string[];
}

export interface VideoOutput {
  readonly url: string;
  /** Sent with the request for the file, for upstreams that require a key. Dropped by redirects to another origin. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type VideoProgress =
  | { readonly state: 'running' }
  | {
      readonly state: 'done';
      /** At least one. */
      readonly videos: readonly VideoOutput[];
      readonly usage: Readonly<Record<string, unknown>> | null;
    };

/** Videos take minutes: a job is started, and checked until it is done. */
export interface VideoCapability {
  /** What forms offer. Empty lists: the model has no choice. */
  takes(
    model: string,
    settings: ProviderSettings,
  ): { readonly sizes: readonly ImageSize[]; readonly seconds: readonly number[] };
  /** One attempt, never repeated after the request was sent: it may cost dollars. Throws ProviderError. */
  start(request: VideoRequest, connection: ProviderConnection): Promise<VideoOperation>;
  /** One attempt; the caller repeats it. Throws ProviderError `rejected` if the job failed. */
  check(operation: Pick<VideoOperation, 'name'>, connection: ProviderConnection): Promise<VideoProgress>;
}

/** A text, or the ids of its tokens, which only a capability that `takesTokens` gets. */
export type EmbeddingInput = string | readonly number[];

export interface EmbeddingRequest {
  readonly model: string;
  /** 1 up to `limits.inputs` texts, none blank. */
  readonly input: readonly EmbeddingInput[];
  /** Length of the vectors, for models with variable length. */
  readonly dimensions?: number;
  readonly encodingFormat?: 'float' | 'base64';
  /** Google's names, for example `RETRIEVAL_QUERY`. */
  readonly taskType?: string;
  readonly outputDimensionality?: number;
  /** End-user identifier, for monitoring upstream. */
  readonly user?: string;
}

export interface EmbeddingResult {
  /** One per input, in the order of the inputs, all of the same length. */
  readonly embeddings: readonly (readonly number[])[];
  /** The same vectors as 32-bit floats, if the upstream sent these: faster to process. `embeddings` may then be a lazy getter. */
  readonly packed?: readonly Float32Array[];
  /** Null when the provider reported none (D25). */
  readonly usage: { readonly input_tokens: number; readonly total_tokens: number } | null;
  readonly model: string;
  /** Names of request fields that were left out because the provider does not support them. */
  readonly ignored: readonly string[];
}

export interface EmbeddingCapability {
  /** Limits of one call; the caller splits larger ones. `tokens`: of all inputs together, if the upstream limits them. */
  readonly limits: { readonly inputs: number; readonly tokens?: number };
  /** Whether inputs may be ids of tokens, by the tokenizer of the model. Omitted: only texts. */
  readonly takesTokens?: boolean;
  /** Optional fields of a request that a model supports. Omitted: none. */
  takes?(
    model: string,
    settings: ProviderSettings,
  ): readonly ('dimensions' | 'encodingFormat' | 'taskType' | 'outputDimensionality' | 'user')[];
  /** One attempt; throws ProviderError. */
  embed(request: EmbeddingRequest, connection: ProviderConnection): Promise<EmbeddingResult>;
}

/** One provider. A file `<id>.provider.ts` exports it as `provider`; the filter `svc_providers` adds those of other plugins. */
export interface Provider {
  /** Loads the code of its calls, which takes some tenths of a second. Called after the start, if the provider is configured. */
  readonly load?: () => Promise<unknown>;
  /** Lower-case letters and digits; the value of `provider` in requests. */
  readonly id: string;
  /** The display name in responses (D6). */
  readonly label: string;
  /** Object schema of its settings. The form uses `title`, `description` and `default`; `writeOnly` marks secrets. */
  readonly settings: JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };
  /** Names of the required settings. */
  readonly required: readonly string[];
  readonly text?: TextCapability;
  readonly images?: ImageCapability;
  readonly embeddings?: EmbeddingCapability;
  readonly videos?: VideoCapability;
  /** The models available to this account; throws ProviderError. */
  listModels(connection: ProviderConnection): Promise<ModelInfo[]>;
}

export type ProviderErrorKind = (typeof upstreamErrorKinds)[number];

/** An upstream error. Only this class decides whether it is retryable (D9). */
export class ProviderError extends UpstreamError<ProviderErrorKind> {
  override readonly name = 'ProviderError';
  readonly retryable: boolean;
  /** Null: the provider reported nothing of the failed call. */
  reported: FailedUsage | null = null;
  /** Whether the provider had begun a response with status 200, in which it reported this error. */
  isInside = false;

  constructor(init: UpstreamErrorInit<ProviderErrorKind>) {
    super(init);
    this.retryable =
      init.isFinal !== true &&
      (init.kind === 'rate_limited' ||
        init.kind === 'unavailable' ||
        init.kind === 'connection' ||
        init.status === 408);
  }
}

/** Whether a provider of another plugin threw the response of its upstream: our callers would take it for their own key. */
export function isForeignRefusal(thrown: unknown): thrown is RestError {
  return thrown instanceof RestError && thrown.status === 401;
}

/**
 * The thrown ProviderError, or null for any other error. A provider of another plugin cannot import the class, so any
 * error with a known `kind` counts.
 */
export function asProviderError(thrown: unknown): ProviderError | null {
  if (thrown instanceof ProviderError) return thrown;
  if (isForeignRefusal(thrown))
    return new ProviderError({ kind: 'auth', message: thrown.message, status: thrown.status, cause: thrown });
  const known = upstreamErrorOf(thrown, upstreamErrorKinds);
  return known === null ? null : new ProviderError(known);
}
