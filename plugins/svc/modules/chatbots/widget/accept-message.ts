import type { HostApi } from '#plugin-api';
import { estimateUsage } from '../../../ai/estimate-tokens.ts';
import { errors } from '../../../kit/errors.ts';
import type { WidgetEvents } from './events.ts';
import type { Generation } from './generate-answer.ts';
import type { LimitInForce, Limits, Reservation } from './limits.ts';
import { hasNotes, type RuleResult } from './rule-outcomes.ts';
import type { MessageState, Thread } from './thread.ts';
import type { ThreadInput, Threads } from './thread-access.ts';
import type { Lease, TurnLeases } from './turn-leases.ts';
import type { Visitor } from './visitor.ts';

/** A message on its way from being sent to being accepted. */
export interface Sending<Input extends ThreadInput = ThreadInput> {
  readonly visitor: Visitor;
  readonly input: Input;
  readonly thread: Thread;
  readonly state: MessageState;
}

export type Accepted =
  | { readonly kind: 'accepted'; readonly generation: Omit<Generation, 'turn'> }
  /** Another node answers a message of this conversation. */
  | { readonly kind: 'running'; readonly messageId: string }
  /** Another node answered meanwhile: it is not as it was when it was looked at. */
  | { readonly kind: 'changed' };

export interface AcceptParts {
  readonly host: Pick<HostApi, 'database' | 'clock'>;
  readonly threads: Threads;
  readonly leases: TurnLeases;
  readonly limits: Limits;
  readonly events: WidgetEvents;
}

/** What a message may take of a limit. */
interface Wanted {
  readonly limit: LimitInForce;
  readonly least: number;
  readonly most: number;
  /** Tokens that the model is told, about. */
  readonly input: number;
}

/** Tokens that one text of a knowledge base comes to, about. */
const tokensOfText = 400;

/** Ends a transaction without a trace. */
class ChangedError extends Error {}

/**
 * The one transaction of a message: its lease, what it takes of limits, the message, what rules keep, its events.
 *
 * @throws RestError 429 `rest_svc_chat_limit_reached` with `data.limit` and `Retry-After`; nothing is stored then.
 */
export async function acceptMessage(parts: AcceptParts, sending: Sending, outcome: RuleResult): Promise<Accepted> {
  const { host, leases, threads } = parts;
  const { visitor, input, state } = sending;
  const wanted = await want(parts, sending, outcome);
  const accept = async (): Promise<Accepted> => {
    const claim = await leases.claim(sending.thread.uuid, input.messageId);
    if (claim.kind === 'running') return claim;
    // Nobody else answers from here on; whoever did until now may have ended just before.
    const thread = await threads.open(visitor, input);
    if (!isSame(await thread.stateOf(input.messageId), state)) throw new ChangedError();
    const reservation = wanted && (await reserve(parts, wanted, { visitor, lease: claim.lease }));
    if (state.kind === 'new') await store(parts, { ...sending, thread }, outcome);
    return {
      kind: 'accepted',
      generation: {
        visitor,
        thread,
        outcome,
        lease: claim.lease,
        reservation,
        limit: wanted?.limit ?? null,
        pageUrl: input.pageUrl,
        replaces: state.kind === 'answered' ? state.answer.id : null,
        mostTokens: wanted && reservation?.unit === 'tokens' ? reservation.amount - wanted.input : null,
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

async function want(
  { limits }: AcceptParts,
  { visitor, input, thread }: Sending,
  outcome: RuleResult,
): Promise<Wanted | null> {
  const limit = await limits.of(visitor);
  if (limit === null) return null;
  // Words of a rule cost no tokens, but need that there are some left.
  if (limit.unit === 'messages' || outcome.reply !== null) return { limit, least: 1, most: 1, input: 0 };
  const { bot } = visitor;
  const messages = [...(await thread.told(null, bot.max_messages)), { role: 'user' as const, content: input.text }];
  const { input_tokens: told } = await estimateUsage(
    { system: [bot.instructions, ...outcome.contexts].join('\n\n'), messages },
    '',
  );
  const knowledge = bot.knowledge.enabled ? bot.knowledge.top_k * tokensOfText : 0;
  return { limit, least: told + 1, most: told + knowledge + bot.max_completion_tokens, input: told };
}

async function reserve(
  { host, limits, leases }: AcceptParts,
  wanted: Wanted,
  { visitor, lease }: { readonly visitor: Visitor; readonly lease: Lease },
): Promise<Reservation> {
  const reservation = await limits.reserve(wanted.limit, wanted);
  if (reservation === null) {
    const shown = limits.shown(visitor.bot, wanted.limit);
    const seconds = Math.max(1, Math.ceil((wanted.limit.endsAt - host.clock.now()) / 1000));
    throw errors.chat_limit_reached({
      values: { reason: shown.message },
      data: { limit: shown },
      headers: { 'Retry-After': String(seconds) },
    });
  }
  await leases.note(lease, reservation);
  return reservation;
}

async function store({ events }: AcceptParts, { visitor, input, thread }: Sending, outcome: RuleResult): Promise<void> {
  const { count, isNew, isFirst } = await thread.add({ id: input.messageId, content: input.text });
  if (!isNew) return;
  if (hasNotes(outcome, visitor.bot)) await thread.note(outcome);
  const scene = { bot: visitor.bot, userId: visitor.user.id, conversation: thread.uuid, messageCount: count };
  const message = { id: input.messageId, text: input.text };
  if (isFirst) await events.sessionStarted(scene, message);
  await events.userMessage(scene, message);
}
