import type { HostApi, StartedJob } from '#plugin-api';
import { estimateUsage } from '../../../ai/estimate-tokens.ts';
import { errors } from '../../../kit/errors.ts';
import { promptMessages } from '../reply/reply.ts';
import type { WidgetEvents } from './events.ts';
import type { AcceptedMessage } from './generate-answer.ts';
import type { ActiveLimit, Limits, Reservation } from './limits.ts';
import { changesConversation, type RuleResult } from './rule-outcomes.ts';
import type { MessageState, Thread } from './thread.ts';
import type { ThreadInput, ThreadAccess } from './thread-access.ts';
import type { TurnArgs, TurnJobs } from './turn-jobs.ts';
import type { Visitor } from './visitor.ts';

/** A message that was received and not yet accepted. */
export interface PendingMessage<Input extends ThreadInput = ThreadInput> {
  readonly visitor: Visitor;
  readonly input: Input;
  readonly thread: Thread;
  readonly state: MessageState;
}

export type AcceptResult =
  | { readonly kind: 'accepted'; readonly message: Omit<AcceptedMessage, 'stream'> }
  /** Another node is answering a message of this conversation. */
  | { readonly kind: 'running'; readonly messageId: string }
  /** Another node answered in the meantime: the state that was read is out of date. */
  | { readonly kind: 'changed' };

export interface AcceptParts {
  readonly host: Pick<HostApi, 'database' | 'documents'>;
  readonly threads: ThreadAccess;
  readonly turnJobs: TurnJobs;
  readonly limits: Limits;
  readonly events: WidgetEvents;
}

/** How much of a limit a message may use, in the unit of the limit. */
interface LimitRequest {
  readonly limit: ActiveLimit;
  readonly least: number;
  readonly most: number;
  /** Estimated tokens of the prompt. */
  readonly promptTokens: number;
}

/** Estimated tokens of one passage of a knowledge base. */
const tokensPerPassage = 400;

/** Rolls a transaction back. */
class ChangedError extends Error {}

/**
 * Accepts a message in one transaction: starts the job, reserves the limit, stores the message with what rules changed,
 * and emits its events.
 *
 * @throws RestError 429 `rest_svc_chat_limit_reached` with `data.limit` and `Retry-After`; nothing is stored then.
 */
export async function acceptMessage(
  parts: AcceptParts,
  pending: PendingMessage,
  outcome: RuleResult,
): Promise<AcceptResult> {
  const { host, turnJobs, threads } = parts;
  const { visitor, input, state } = pending;
  const request = await limitRequest(parts, pending, outcome);
  const accept = async (): Promise<AcceptResult> => {
    const turn = await turnJobs.start(pending.thread.uuid, input.messageId);
    if (!turn.isStarted) return { kind: 'running', messageId: turn.messageId };
    // No other node can answer from here on, but one may have finished just before the start.
    const thread = await threads.open(visitor, input);
    if (!isSame(await thread.messageState(input.messageId), state)) throw new ChangedError();
    const reservation = request && (await reserve(parts, request, { visitor, turn, messageId: input.messageId }));
    if (state.kind === 'new') await store(parts, { ...pending, thread }, outcome);
    return {
      kind: 'accepted',
      message: {
        visitor,
        thread,
        outcome,
        turn,
        reservation,
        limit: request?.limit ?? null,
        pageUrl: input.pageUrl,
        replaces: state.kind === 'answered' ? state.answer.id : null,
        maxTokens: request && reservation?.unit === 'tokens' ? reservation.amount - request.promptTokens : null,
        message: { id: input.messageId, text: input.text },
      },
    };
  };
  try {
    return await host.database.transaction(accept);
  } catch (error) {
    if (error instanceof ChangedError) return { kind: 'changed' };
    throw error;
  }
}

function isSame(now: MessageState, before: MessageState): boolean {
  if (now.kind === 'answered' && before.kind === 'answered')
    return now.answer.id === before.answer.id && now.isLast === before.isLast;
  return now.kind === before.kind;
}

async function limitRequest(
  { host, limits }: AcceptParts,
  { visitor, input, thread }: PendingMessage,
  outcome: RuleResult,
): Promise<LimitRequest | null> {
  const limit = await limits.of(visitor);
  if (limit === null) return null;
  // A reply by a rule uses no tokens, but is sent only while some are left.
  if (limit.unit === 'messages' || outcome.reply !== null) return { limit, least: 1, most: 1, promptTokens: 0 };
  const { bot } = visitor;
  const history = await thread.history(null, bot.max_messages);
  const messages = promptMessages(bot, [...history, { role: 'user', content: input.text }]);
  const { input_tokens: promptTokens } = await estimateUsage(
    { system: [bot.instructions, ...outcome.contexts].join('\n\n'), messages },
    '',
    host,
  );
  const knowledge = bot.knowledge.enabled ? bot.knowledge.top_k * tokensPerPassage : 0;
  return {
    limit,
    least: promptTokens + 1,
    most: promptTokens + knowledge + bot.max_completion_tokens,
    promptTokens,
  };
}

async function reserve(
  { limits }: AcceptParts,
  request: LimitRequest,
  { visitor, turn, messageId }: { readonly visitor: Visitor; readonly turn: StartedJob; readonly messageId: string },
): Promise<Reservation> {
  const reservation = await limits.reserve(request.limit, request);
  if (reservation === null) throw errors.chat_limit_reached(limits.refusal(request.limit, visitor.bot.limits));
  const args: TurnArgs = { messageId, reservation };
  await turn.setArgs(args);
  return reservation;
}

async function store(
  { events }: AcceptParts,
  { visitor, input, thread }: PendingMessage,
  outcome: RuleResult,
): Promise<void> {
  const { count, isNew, isFirst } = await thread.addMessage({ id: input.messageId, content: input.text });
  if (!isNew) return;
  if (changesConversation(outcome, visitor.bot)) await thread.saveRuleChanges(outcome);
  const { bot, owner } = visitor;
  const subject = { bot, ...owner, conversation: thread.uuid, messageCount: count };
  const message = { id: input.messageId, text: input.text };
  if (isFirst) await events.sessionStarted(subject, message);
  await events.userMessage(subject, message);
}
