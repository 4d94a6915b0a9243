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

export interface ModelInfo {
  readonly id: string;
  readonly label?: string;
}

export interface TextCapability {
  /** Names of `params` the provider takes at all. The README's table is made from it. */
  readonly params: Readonly<Partial<Record<AiParamName, string>>>;
  /** One try; throws ProviderError. Retries are made by the caller (D9). */
  generate(request: TextRequest, connection: ProviderConnection): Promise<TextResult>;
}

/** One far end. A file `<id>.provider.ts` exports it as `provider`; the filter `svc_providers` adds those of other plugins. */
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
  /** The models the far end offers to this account; throws ProviderError. */
  listModels(connection: ProviderConnection): Promise<ModelInfo[]>;
}

const kinds = ['auth', 'rate_limited', 'rejected', 'unavailable', 'unreadable', 'connection', 'timeout', 'aborted'] as const;

export type ProviderErrorKind = (typeof kinds)[number];

export interface ProviderErrorInit {
  readonly kind: ProviderErrorKind;
  /** The provider's own sentence, with secrets cut out; or ours when there was none. It follows "<provider> failed: ". */
  readonly message: string;
  /** HTTP status of the far end, or null when none came. */
  readonly status?: number | null;
  /** Seconds the far end asked to wait, or null. */
  readonly retryAfter?: number | null;
  readonly cause?: unknown;
}

/** What went wrong at a far end. Whether it is worth another try is decided here, once (D9). */
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
    this.retryable = init.kind === 'rate_limited' || init.kind === 'unavailable' || init.kind === 'connection' || init.status === 408;
  }
}

/**
 * The ProviderError that was thrown, or null for any other error. A provider of another plugin cannot import the class:
 * an error of its own with a known `kind` counts.
 */
export function asProviderError(thrown: unknown): ProviderError | null {
  if (thrown instanceof ProviderError) return thrown;
  if (!(thrown instanceof Error) || !('kind' in thrown) || !kinds.includes(thrown.kind as ProviderErrorKind)) return null;
  const { status, retryAfter } = thrown as { status?: unknown; retryAfter?: unknown };
  return new ProviderError({
    kind: thrown.kind as ProviderErrorKind,
    message: thrown.message,
    status: typeof status === 'number' ? status : null,
    retryAfter: typeof retryAfter === 'number' ? retryAfter : null,
    cause: thrown,
  });
}
