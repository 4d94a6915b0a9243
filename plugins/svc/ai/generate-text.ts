import type { RestError, User } from '#plugin-api';
import type { AiParams } from '../kit/ai-params.ts';
import type { Reasoning } from '../kit/reasoning.ts';
import type { TextExtras } from '../kit/tools.ts';
import type { TokenDetails } from '../kit/token-details.ts';
import type { UsageOrigin } from '../kit/usage-origin.ts';
import type { NativeRequest, TextMessage, TextResult, Usage } from '../providers/provider.ts';
import type { ImageAddresses } from './image-addresses.ts';
import { requestedTarget, unwrapped, type AiServices, type CallResult } from './ports.ts';
import type { ConversationMessage } from './system-text.ts';
import { generateOutput, type OutputFormat } from './structured-output.ts';
import { createTextCall } from './text-call.ts';

export interface GenerateTextInput extends TextExtras {
  /** Id of a provider. */
  readonly provider: string;
  /** Model or deployment; blank or left out takes the provider's saved one. */
  readonly model?: string | undefined;
  readonly messages: readonly ConversationMessage[];
  readonly systemInstruction?: string | undefined;
  /** False if the system text has been filled in already and holds texts of others that must not change. Default true (D7). */
  readonly placeholders?: boolean;
  /** Overrides of the global parameters, already checked (D8). */
  readonly params?: AiParams | undefined;
  /** Whether a parameter that the model does not support is an error instead of being left out. Default false. */
  readonly strict?: boolean | undefined;
  /** Whether features that the text can do without are left out and named where the model lacks them. Default: an error. */
  readonly lenient?: boolean | undefined;
  /** For `[username]`; default a guest. */
  readonly user?: Pick<User, 'id' | 'displayName'> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Fills in images that are named by address, once the call is allowed and its budget reserved. Default: there are none. */
  readonly loadImages?:
    | ((messages: readonly TextMessage[], signal: AbortSignal | undefined) => Promise<readonly TextMessage[]>)
    | undefined;
  /**
   * Called with each piece of the text as the upstream sends it; all pieces together are the content. The caller sees no
   * difference if an upstream cannot stream, or is retried because it failed before its first piece.
   */
  readonly onText?: ((piece: string) => void) | undefined;
  /** With `onText`: called with each piece of the reasoning, for callers that return it to programs (D40). Default: it is not seen. */
  readonly onReasoning?: ((piece: Reasoning) => void) | undefined;
  /** With `onText`: called with the events of the answer to a `native` request, which say all that `onText` gets, and more. */
  readonly onEvent?: ((event: Readonly<Record<string, unknown>>) => void) | undefined;
  /** What the caller sent, for a provider with an API of that format. The other members say the same as far as they can. */
  readonly native?: GivenRequest | undefined;
  /**
   * Data instead of a text: the result has them as `data`, checked against the schema. The provider enforces the schema if the
   * model can; invalid data is repaired once. Nothing is passed to `onText`.
   */
  readonly output?: OutputFormat | undefined;
  /**
   * Whether a refusal, and a text that the length limit or a filter left empty, is a result, with `refusal` and `finish`. Default:
   * an error that says what happened (D5).
   */
  readonly acceptsEmpty?: boolean | undefined;
  /** For the usage ledger. */
  readonly origin?: UsageOrigin | undefined;
}

/** A request in the format of an API, and what of it the members of `GenerateTextInput` do not say. */
export interface GivenRequest extends NativeRequest {
  /** Members that a provider with another format cannot do without: it fails with 400, or leaves them out if `lenient`. */
  readonly needed: readonly string[];
  /** Members that do not change the answer: a provider with another format leaves them out and names them. */
  readonly spared: readonly string[];
  /** What a provider with another format answers: the other members could not be read strictly. */
  readonly refusal?: RestError | undefined;
  /** Loads images that it names by address, for a vendor that does not fetch them. */
  readonly images: ImageAddresses;
  /** Whether images are named by address. */
  readonly namesImages?: boolean | undefined;
}

export interface GeneratedText
  extends
    CallResult,
    Pick<TextResult, 'toolCalls' | 'finish' | 'refusal' | 'reportedCost' | 'reasoning' | 'annotations' | 'native'> {
  readonly content: string;
  readonly usage: Usage;
  /** Which of these tokens are billed at prices of their own (D32). Left out: none, or the provider does not report them. */
  readonly tokenDetails?: TokenDetails | undefined;
  /** The provider reported no usage, so tokens were counted locally (D25). */
  readonly usageEstimated: boolean;
  /** What `output` requested; it matches the schema. */
  readonly data?: unknown;
}

export type GenerateText = (input: GenerateTextInput) => Promise<GeneratedText>;

/**
 * Text from a provider: failover, then the cheaper model of a budget, around one call (`text-call.ts`). Fails with the
 * errors of D5 as RestError. Keeps no state: any node may serve any call.
 */
export function createGenerateText(services: AiServices): GenerateText {
  const { withFailover = unwrapped, withBudgetFallback = unwrapped } = services;
  const call = withFailover('text', withBudgetFallback('text', createTextCall(services)));
  const generate: GenerateText = (input) => call(input, requestedTarget(input));
  return (input) => {
    const { output } = input;
    return output === undefined ? generate(input) : generateOutput(generate, { ...input, output });
  };
}
