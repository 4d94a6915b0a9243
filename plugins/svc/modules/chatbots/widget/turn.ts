import type { HostApi, Undo } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { estimateUsage } from '../../../ai/estimate-usage.ts';
import type { RuleEvent } from '../rules/rule.ts';
import { widgetMessage } from './answers.ts';
import type { WidgetEvents } from './events.ts';
import { failureOf } from './failure.ts';
import { createGenerate, type Generation, type GenerateParts } from './generate.ts';
import type { LimitInForce, Reservation } from './limits.ts';
import { createLiveTurn, type LiveTurn } from './live-turn.ts';
import { checkWords } from './moderation.ts';
import { formOf, hasNotes, type RuleResult } from './rule-outcomes.ts';
import type { MessageState, Thread } from './thread.ts';
import type { ThreadInput, Threads } from './threads.ts';
import type { Lease } from './turn-leases.ts';
import { createTurnRegistry } from './turn-registry.ts';
import type { Visitor } from './visitor.ts';

export interface SendInput extends ThreadInput {
  readonly regenerate: boolean;
  /** Id of the answer that is to be made anew, where the page says so. */
  readonly replaces: string;
}

/** An answer to be followed. */
export type Following = Pick<LiveTurn, 'follow' | 'ended'>;

export interface Turns {
  /**
   * A message of a visitor. It counts once however often it is sent: the same again gives its answer, or follows the one
   * under way on whichever node, or tries anew after a failure. The answer is made and stored whether anybody follows it or not.
   *
   * @throws RestError when it is refused; nothing is stored then.
   */
  send(visitor: Visitor, input: SendInput): Promise<Following>;
  /** Ends the answer to a message, whichever node makes it; what there is stays. Answers whether one was being made. */
  stop(conversation: string, messageId: string): Promise<boolean>;
  /** Waits a while for answers under way, then ends them: their messages can be sent again. */
  close(): Promise<void>;
}

export interface TurnParts extends GenerateParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'log'>;
  readonly threads: Threads;
  readonly events: WidgetEvents;
}

/** A message on its way from being sent to being accepted. */
interface Sending {
  readonly visitor: Visitor;
  readonly input: SendInput;
  readonly thread: Thread;
  readonly state: MessageState;
}

export function createTurns(parts: TurnParts): Turns {
  const { host, leases, rules, limits } = parts;
  const registry = createTurnRegistry({ clock: host.clock });
  const generate = createGenerate(parts);
  let listening: Promise<Undo> | null = null;

  /** Hears of stops for this node, and of ends on others, from the first turn on. */
  async function listen(): Promise<void> {
    listening ??= leases.listen(({ kind, conversation, messageId }) => {
      if (kind === 'stop') registry.running(conversation, messageId)?.stop();
      else registry.heard(conversation);
    });
    await listening.catch(() => (listening = null));
  }

  async function open(visitor: Visitor, input: SendInput, thread: Thread): Promise<Following> {
    const running = registry.find(thread.uuid, input.messageId);
    if (running !== null && (running.end === null || shouldTellAgain(visitor, input, running.turn, running.end.type))) return running.turn;
    if (running === null && registry.isBusy(thread.uuid)) throw errors.turn_running();
    const state = await thread.stateOf(input.messageId);
    if (state.kind === 'followed' || (state.kind === 'answered' && input.regenerate && !state.isLast)) throw errors.message_followed();
    if (state.kind === 'answered' && (!input.regenerate || (input.replaces !== '' && input.replaces !== state.answer.id))) return told({ visitor, input, thread, state }, state);
    if (state.kind === 'new' && input.regenerate && visitor.bot.privacy.keep) throw errors.message_not_found();
    return begin({ visitor, input, thread, state });
  }

  /** An answer that is stored, as if it were made now. */
  async function told(sending: Sending, { answer }: Extract<MessageState, { kind: 'answered' }>): Promise<Following> {
    const { visitor, input, thread } = sending;
    const turn = createLiveTurn({ conversation: thread.uuid, messageId: input.messageId, isAgain: false });
    turn.setSources(answer.sources);
    turn.addText(answer.content);
    const limit = await limits.of(visitor);
    const { forms } = await rulesOf(sending);
    const shown = limit !== null && (await limits.left(limit)) <= 0 ? limits.shown(visitor.bot, limit) : null;
    turn.finish({ type: 'done', message: widgetMessage(answer), form: formOf(visitor.bot, forms), limit: shown });
    return turn;
  }

  function rulesOf({ visitor, input, thread, state }: Sending): Promise<RuleResult> {
    const isFirst = thread.isNew || (state.kind !== 'new' && thread.messageCount <= 2);
    const happened: readonly RuleEvent[] = isFirst ? ['session_started', 'message_received'] : ['message_received'];
    return rules.run(happened, {
      visitor, conversation: thread.uuid, message: input.text, pageUrl: input.pageUrl, variables: thread.variables,
      messageCount: thread.messageCount + (state.kind === 'new' ? 1 : 0),
    });
  }

  async function begin(sending: Sending): Promise<Following> {
    const { visitor, input, thread, state } = sending;
    const { bot } = visitor;
    if (bot.consent.required && !thread.hasConsent && !input.consent) throw errors.consent_required();
    if (state.kind === 'new') checkWords(bot, input.text);
    const outcome = await rulesOf(sending);
    if (outcome.block !== null) {
      if (state.kind === 'new') rules.call(outcome);
      throw errors.message_refused({ values: { reason: outcome.block } });
    }
    const wanted = await want(sending, outcome);
    await listen();
    const accepted = await accept({ ...sending, outcome, wanted });
    if (accepted.kind === 'running') {
      if (accepted.messageId !== input.messageId) throw errors.turn_running();
      return elsewhere(sending);
    }
    if (state.kind === 'new') rules.call(outcome);
    const turn = createLiveTurn({ conversation: thread.uuid, messageId: input.messageId, isAgain: input.regenerate });
    registry.add(turn);
    registry.track(generate({ ...accepted.generation, turn }));
    return turn;
  }

  /** What of a limit the message may take. */
  async function want({ visitor, input, thread }: Sending, outcome: RuleResult): Promise<Wanted | null> {
    const limit = await limits.of(visitor);
    if (limit === null) return null;
    if (limit.unit === 'messages') return { limit, least: 1, most: 1, input: 0 };
    if (outcome.reply !== null) return { limit, least: 1, most: 1, input: 0 };
    const { bot } = visitor;
    const messages = [...(await thread.told(null, bot.max_messages)), { role: 'user' as const, content: input.text }];
    const system = [bot.instructions, ...outcome.contexts].join('\n\n');
    const { input_tokens: told } = await estimateUsage({ system, messages }, '');
    const knowledge = bot.knowledge.enabled ? bot.knowledge.top_k * tokensOfText : 0;
    return { limit, least: told + 1, most: told + knowledge + bot.max_completion_tokens, input: told };
  }

  const accept = createAccept(parts);

  /** An answer that another node makes: followed by its end. */
  function elsewhere({ visitor, input, thread, state }: Sending): Following {
    const turn = createLiveTurn({ conversation: thread.uuid, messageId: input.messageId, isAgain: false });
    const wait = async (): Promise<void> => {
      while ((await leases.running(thread.uuid))?.messageId === input.messageId && !registry.isClosing()) await registry.news(thread.uuid);
      // Opened anew: the conversation may have begun there.
      const found = await parts.threads.open(visitor, input);
      const after = await found.stateOf(input.messageId);
      if (after.kind !== 'answered') throw errors.chat_failed();
      const stored = await told({ visitor, input, thread: found, state }, after);
      turn.setSources(after.answer.sources);
      turn.addText(after.answer.content);
      turn.finish(await stored.ended);
    };
    registry.track(wait().catch((error: unknown) => { turn.finish(failureOf(error, visitor)); }));
    return turn;
  }

  return {
    async send(visitor, input) {
      const thread = await parts.threads.open(visitor, input);
      return registry.inTurn(thread.uuid, () => open(visitor, input, thread));
    },
    async stop(conversation, messageId) {
      const running = registry.running(conversation, messageId);
      running?.stop();
      return running !== null || leases.stop(conversation, messageId);
    },
    async close() {
      await registry.close();
      (await listening?.catch(() => undefined))?.();
      await rules.settled();
    },
  };
}

/** Tokens that one text of a knowledge base comes to, about. */
const tokensOfText = 400;

/** An answer that was made just now, and is not to be found in the database: of a conversation that is not kept, or made anew while the page was away. */
function shouldTellAgain({ bot }: Visitor, { regenerate }: SendInput, turn: LiveTurn, end: 'done' | 'error'): boolean {
  if (end === 'error') return false;
  if (regenerate) return turn.isAgain && !turn.wasTold;
  return !bot.privacy.keep;
}

interface Wanted {
  readonly limit: LimitInForce;
  readonly least: number;
  readonly most: number;
  /** Tokens that the model is told, about. */
  readonly input: number;
}

type Accepted = { readonly kind: 'running'; readonly messageId: string } | { readonly kind: 'accepted'; readonly generation: Omit<Generation, 'turn'> };

interface Accepting extends Sending {
  readonly outcome: RuleResult;
  readonly wanted: Wanted | null;
}

/** The one transaction of a message: its lease, what it takes of limits, the message, what rules keep, its events. */
function createAccept({ host, leases, limits, events }: TurnParts): (accepting: Accepting) => Promise<Accepted> {
  async function reserve(wanted: Wanted | null, { visitor, lease }: { readonly visitor: Visitor; readonly lease: Lease }): Promise<Reservation | null> {
    if (wanted === null) return null;
    const reservation = await limits.reserve(wanted.limit, wanted);
    if (reservation === null) {
      const shown = limits.shown(visitor.bot, wanted.limit);
      const seconds = Math.max(1, Math.ceil((wanted.limit.endsAt - host.clock.now()) / 1000));
      throw errors.chat_limit_reached({ values: { reason: shown.message }, data: { limit: shown }, headers: { 'Retry-After': String(seconds) } });
    }
    await leases.note(lease, reservation);
    return reservation;
  }

  async function store({ visitor, input, thread, outcome }: Accepting): Promise<void> {
    const { count, isNew, isFirst } = await thread.add({ id: input.messageId, content: input.text });
    if (!isNew) return;
    if (hasNotes(outcome, visitor.bot)) await thread.note(outcome);
    const scene = { bot: visitor.bot, userId: visitor.user.id, conversation: thread.uuid, messageCount: count };
    const message = { id: input.messageId, text: input.text };
    if (isFirst) await events.sessionStarted(scene, message);
    await events.userMessage(scene, message);
  }

  return (accepting) =>
    host.database.transaction(async (): Promise<Accepted> => {
      const { visitor, input, thread, state, outcome, wanted } = accepting;
      const claim = await leases.claim(thread.uuid, input.messageId);
      if (claim.kind === 'running') return claim;
      const reservation = await reserve(wanted, { visitor, lease: claim.lease });
      if (state.kind === 'new') await store(accepting);
      const replaces = state.kind === 'answered' ? state.answer.id : null;
      const most = reservation?.unit === 'tokens' && wanted ? reservation.amount - wanted.input : null;
      return { kind: 'accepted', generation: { visitor, thread, outcome, replaces, lease: claim.lease, reservation, limit: wanted?.limit ?? null, mostTokens: most, message: { id: input.messageId, text: input.text }, pageUrl: input.pageUrl } };
    });
}
