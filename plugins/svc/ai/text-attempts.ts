import type { Reasoning } from '../kit/reasoning.ts';
import { emptyText, refusedRequest } from '../providers/provider-errors.ts';
import {
  type FailedUsage,
  type ProviderConnection,
  type ProviderError,
  type ReportedUsage,
  type TextCapability,
  type TextRequest,
  type TextResult,
} from '../providers/provider.ts';
import { billedUsage } from './billed-attempt.ts';
import { completeUsage, longestResponse, type CountPrompt } from './estimate-tokens.ts';
import type { GenerateTextInput } from './generate-text.ts';
import type { AiServices } from './ports.ts';

export interface TextAttempts {
  /** One attempt. */
  attempt(request: TextRequest, connection: ProviderConnection): Promise<TextResult>;
  /** Whether the caller has seen a part of the text, its reasoning or events. It is not retried then: there would be two. */
  hasBegun(): boolean;
  /** For the connection of each attempt. Undefined if the caller does not want the reasoning. */
  readonly onReasoning: ((piece: Reasoning) => void) | undefined;
  /** The same for the events of an answer to a native request. */
  readonly onEvent: ProviderConnection['onEvent'];
  /** What failed attempts used as far as the provider may bill it, with an estimate of what it did not report (D51). */
  failed(host: AiServices['host']): Promise<readonly ReportedUsage[]>;
}

/**
 * Attempts at one text. `onText` gets its pieces as they arrive, or one piece at the end from an upstream that cannot
 * stream; all pieces together are the content.
 *
 * @param acceptsEmpty whether a refusal, and a text that the length limit or a filter left empty, is a result
 * @param countPrompt for attempts that failed without a report
 */
export function createTextAttempts(
  { reportsCost, ...capability }: TextCapability,
  { onText, onReasoning, onEvent, acceptsEmpty = false, tools = [] }: AttemptsInput,
  countPrompt: CountPrompt,
): TextAttempts {
  let text = '';
  let hasReasoned = false;
  let hasEvents = false;
  const isStreamed = onText !== undefined && capability.stream !== undefined;
  const failed: FailedAttempt[] = [];

  const emit = (piece: string): void => {
    if (piece === '') return;
    text += piece;
    onText?.(piece);
  };
  const run = async (request: TextRequest, connection: ProviderConnection): Promise<TextResult> => {
    if (onText === undefined) return capability.generate(request, connection);
    const result = await (capability.stream?.(request, connection, emit) ?? capability.generate(request, connection));
    if (!hasReasoned) for (const piece of result.reasoning ?? []) connection.onReasoning?.(piece);
    // The rest of the content, or all of it without a stream.
    if (result.content.startsWith(text)) emit(result.content.slice(text.length));
    return { ...result, content: text };
  };
  return {
    hasBegun: () => hasReasoned || hasEvents || text !== '',
    onReasoning:
      onText &&
      onReasoning &&
      ((piece) => {
        hasReasoned = true;
        onReasoning(piece);
      }),
    onEvent:
      onText &&
      onEvent &&
      ((event) => {
        hasEvents = true;
        onEvent(event);
      }),
    failed: (host) => Promise.all(failed.map((one) => completeUsage(one, { countPrompt, ...one }, host))),
    async attempt(request, connection) {
      const isSent = connection.signal?.aborted !== true;
      const startedAt = connection.clock.now();
      try {
        const result = await run(request, connection);
        if (!acceptsEmpty) refuseWithoutText(result, tools.length > 0);
        return result;
      } catch (thrown) {
        const used = billedUsage(thrown, { isSent, text });
        if (used !== null)
          failed.push({
            ...used,
            unread: unreadTokens(request, {
              ...used,
              // A vendor stops a stream that its client leaves.
              milliseconds: isStreamed ? connection.clock.now() - startedAt : Infinity,
            }),
            reportedCost: reportsCost === true ? used.reportedCost : undefined,
          });
        throw thrown;
      }
    },
  };
}

/** Tokens that the fastest models write in a second. */
const fastest = 200;

/** What a response may have that ended before it was read: all that was reserved, but no more than the time allowed. */
function unreadTokens(
  request: TextRequest,
  { isUnread, milliseconds }: { readonly isUnread: boolean; readonly milliseconds: number },
): number {
  return isUnread ? Math.min(longestResponse(request), Math.ceil((milliseconds / 1000) * fastest)) : 0;
}

type AttemptsInput = Pick<GenerateTextInput, 'onText' | 'onReasoning' | 'onEvent' | 'acceptsEmpty' | 'tools'>;

interface FailedAttempt extends FailedUsage {
  readonly written: string;
  /** Tokens of the response, if it ended before it was read. */
  readonly unread: number;
}

/**
 * A result without a text, or with a refusal after a part of it. For OpenAI's API these are results, here errors that say what
 * happened (D5).
 */
function refuseWithoutText(result: TextResult, hasTools: boolean): void {
  const error = errorWithoutText(result, hasTools);
  if (error === null) return;
  const { usage, tokenDetails, reportedCost } = result;
  error.reported = { usage, tokenDetails, reportedCost };
  throw error;
}

function errorWithoutText(
  { content, toolCalls = [], finish, refusal }: TextResult,
  hasTools: boolean,
): ProviderError | null {
  if (finish === undefined && refusal !== undefined) return refusedRequest(refusal, 'refusal');
  if (content !== '') return null;
  // The model called functions that it was not offered.
  if (toolCalls.length > 0) return hasTools ? null : emptyText('it calls functions, and has no text');
  if (finish === undefined) return null;
  if (finish === 'content_filter')
    return refusedRequest(refusal ?? 'its content filter removed the whole text (content_filter).', 'content_filter');
  return refusedRequest(
    'the length limit was used up before any text was written (length); raise max_completion_tokens.',
  );
}
