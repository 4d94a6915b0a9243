import { tokenDetails, tokenKinds, type TokenKind } from '../kit/token-details.ts';
import { isUnsent } from '../kit/upstream-error.ts';
import { refusedRequest } from '../providers/provider-errors.ts';
import {
  asProviderError,
  type ProviderConnection,
  type ProviderError,
  type ReportedUsage,
  type TextCapability,
  type TextRequest,
  type TextResult,
} from '../providers/provider.ts';
import { estimateUsage } from './estimate-tokens.ts';
import type { GenerateTextInput } from './generate-text.ts';
import type { AiServices, UsageCounts } from './ports.ts';

/** What attempts used together; a cost only if it was reported for all of them. */
export function sumUsage(model: string, used: readonly ReportedUsage[]): UsageCounts {
  const counts = { model, inputTokens: 0, outputTokens: 0 };
  const details: Partial<Record<TokenKind, number>> = {};
  let reportedCost: number | undefined = used.length === 0 ? undefined : 0;
  for (const { usage, tokenDetails: own = {}, reportedCost: cost } of used) {
    counts.inputTokens += usage?.input_tokens ?? 0;
    counts.outputTokens += usage?.output_tokens ?? 0;
    for (const kind of tokenKinds) if (own[kind]) details[kind] = (details[kind] ?? 0) + own[kind];
    reportedCost = reportedCost === undefined || cost === undefined ? undefined : reportedCost + cost;
  }
  return { ...counts, tokenDetails: tokenDetails(details), reportedCost };
}

export interface TextAttempts {
  /** One attempt. */
  attempt(request: TextRequest, connection: ProviderConnection): Promise<TextResult>;
  /** The text passed to `onText` so far. If it is not empty, the call cannot be retried: the caller would see two beginnings. */
  text(): string;
  /** What the provider reported of attempts that failed, and may bill. */
  failed(): readonly ReportedUsage[];
  /** The same for a call that failed, with an estimate of its last attempt if the provider reported nothing and may bill it. */
  used(host: AiServices['host']): Promise<readonly ReportedUsage[]>;
}

/**
 * Attempts at one text. `onText` gets its pieces as they arrive, or one piece at the end from an upstream that cannot
 * stream; all pieces together are the content.
 *
 * @param acceptsEmpty whether a refusal, and a text that the length limit or a filter left empty, is a result
 */
export function createTextAttempts(
  { reportsCost, ...capability }: TextCapability,
  { onText, acceptsEmpty = false }: Pick<GenerateTextInput, 'onText' | 'acceptsEmpty'>,
): TextAttempts {
  let text = '';
  const failed: ReportedUsage[] = [];
  /** The request of the last attempt, if it may be billed although nothing was reported. */
  let unreported: TextRequest | null = null;

  const emit = (piece: string): void => {
    if (piece === '') return;
    text += piece;
    onText?.(piece);
  };
  const run = async (request: TextRequest, connection: ProviderConnection): Promise<TextResult> => {
    if (onText === undefined) return capability.generate(request, connection);
    const result = await (capability.stream?.(request, connection, emit) ?? capability.generate(request, connection));
    // The rest of the content, or all of it without a stream.
    if (result.content.startsWith(text)) emit(result.content.slice(text.length));
    return { ...result, content: text };
  };
  return {
    text: () => text,
    failed: () => failed,
    used: async (host) =>
      unreported === null ? failed : [...failed, { usage: await estimateUsage(unreported, text, host) }],
    async attempt(request, connection) {
      const isSent = connection.signal?.aborted !== true;
      unreported = null;
      try {
        const result = await run(request, connection);
        if (!acceptsEmpty) refuseWithoutText(result);
        return result;
      } catch (thrown) {
        const error = asProviderError(thrown);
        const { usage, ...rest }: ReportedUsage = error?.reported ?? { usage: null };
        const cost = reportsCost === true && 'reportedCost' in rest ? rest.reportedCost : undefined;
        if (usage !== null) failed.push({ usage, ...rest, reportedCost: cost });
        else if (isSent && (text !== '' || (error !== null && isBillable(error)))) unreported = request;
        throw thrown;
      }
    },
  };
}

/** Whether a provider may bill a failed attempt: not a request that it refused by status, or that it never got (D51). */
function isBillable(error: ProviderError): boolean {
  const { kind, status } = error;
  if (status !== null) return status < 300;
  return kind === 'timeout' || kind === 'aborted' || (kind === 'connection' && !isUnsent(error));
}

/**
 * A result without a text, or with a refusal after a part of it. For OpenAI's API these are results, here errors that say what
 * happened (D5).
 */
function refuseWithoutText(result: TextResult): void {
  const error = errorWithoutText(result);
  if (error === null) return;
  error.reported = result;
  throw error;
}

function errorWithoutText({ content, toolCalls = [], finish, refusal }: TextResult): ProviderError | null {
  if (finish === undefined && refusal !== undefined) return refusedRequest(refusal, 'refusal');
  if (content !== '' || toolCalls.length > 0 || finish === undefined) return null;
  if (finish === 'content_filter')
    return refusedRequest(refusal ?? 'its content filter removed the whole text (content_filter).', 'content_filter');
  return refusedRequest(
    'the length limit was used up before any text was written (length); raise max_completion_tokens.',
  );
}
