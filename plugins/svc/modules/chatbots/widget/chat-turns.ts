import type { HostApi, Undo } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { RuleEvent } from '../rules/rule.ts';
import { acceptMessage, type AcceptParts, type PendingMessage } from './accept-message.ts';
import { widgetMessage } from './response-mappers.ts';
import { toVisitorError } from './visitor-error.ts';
import { createAnswerGenerator, type AcceptedMessage, type GenerateAnswerParts } from './generate-answer.ts';
import { createAnswerStream, type AnswerStream, type AnswerEnd } from './answer-stream.ts';
import { checkBannedWords } from './moderation.ts';
import { formOf, type RuleResult } from './rule-outcomes.ts';
import type { MessageState, Thread } from './thread.ts';
import type { ThreadInput } from './thread-access.ts';
import { createLocalAnswers, type LocalAnswers } from './local-answers.ts';
import type { Visitor } from './visitor.ts';

export interface SendInput extends ThreadInput {
  readonly regenerate: boolean;
  /** Id of the answer that is to be made anew, where the page says so. */
  readonly replaces: string;
}

/** An answer to be followed. */
export type FollowedAnswer = Pick<AnswerStream, 'follow' | 'ended'>;

export interface ChatTurns {
  /**
   * A message of a visitor. It counts once however often it is sent: the same again gives its answer, or follows the one
   * under way on whichever node, or tries anew after a failure. The answer is made and stored whether anybody follows it or not.
   *
   * @throws RestError when it is refused; nothing is stored then.
   */
  send(visitor: Visitor, input: SendInput): Promise<FollowedAnswer>;
  /** Ends the answer to a message, whichever node makes it; what there is stays. Answers whether one was being made. */
  stop(conversation: string, messageId: string): Promise<boolean>;
  /** Waits a while for answers under way, then ends them: their messages can be sent again. */
  close(): Promise<void>;
}

export interface ChatTurnParts extends GenerateAnswerParts, AcceptParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'log'>;
}

interface Running extends ChatTurnParts {
  readonly registry: LocalAnswers;
  readonly generate: (generation: AcceptedMessage) => Promise<void>;
  /** Hears of stops for this node, and of ends on others, from the first turn on. */
  readonly listen: () => Promise<void>;
}

export function createChatTurns(parts: ChatTurnParts): ChatTurns {
  const { host, leases, rules } = parts;
  const registry = createLocalAnswers({ clock: host.clock });
  let listening: Promise<Undo> | null = null;
  const listen = async (): Promise<void> => {
    listening ??= leases.listen(({ kind, conversation, messageId }) => {
      if (kind === 'stop') registry.running(conversation, messageId)?.stop();
      else registry.heard(conversation);
    });
    // Without it nodes look again from time to time.
    await listening.catch(() => (listening = null));
  };
  const running: Running = { ...parts, registry, generate: createAnswerGenerator(parts), listen };
  return {
    async send(visitor, input) {
      const thread = await parts.threads.open(visitor, input);
      return registry.inTurn(thread.uuid, () => open(running, { visitor, input, thread }));
    },
    async stop(conversation, messageId) {
      const turn = registry.running(conversation, messageId);
      turn?.stop();
      return turn !== null || leases.stop(conversation, messageId);
    },
    async close() {
      await registry.close();
      (await listening?.catch(() => undefined))?.();
      await rules.settled();
    },
  };
}

type OpenedMessage = Omit<PendingMessage<SendInput>, 'state'>;

async function open(parts: Running, opening: OpenedMessage): Promise<FollowedAnswer> {
  const { visitor, input, thread } = opening;
  const known = parts.registry.find(thread.uuid, input.messageId);
  if (known !== null && (known.end === null || shouldReplayLive(opening, known.turn, known.end))) return known.turn;
  if (known === null && parts.registry.isBusy(thread.uuid)) throw errors.turn_running();
  const state = await thread.stateOf(input.messageId);
  if (state.kind === 'followed' || (state.kind === 'answered' && input.regenerate && !state.isLast))
    throw errors.message_followed();
  if (state.kind === 'answered' && !shouldRegenerate(input, state)) return told(parts, { ...opening, state }, state);
  if (state.kind === 'new' && input.regenerate && visitor.bot.privacy.keep) throw errors.message_not_found();
  return begin(parts, { ...opening, state });
}

/** Whether the answer there is shall be made anew: one that has taken its place already is what was wished for. */
function shouldRegenerate(
  { regenerate, replaces }: SendInput,
  { answer }: Extract<MessageState, { kind: 'answered' }>,
): boolean {
  return regenerate && (replaces === '' || replaces === answer.id);
}

/** An answer that was made just now, and is not to be found in the database: of a conversation that is not kept, or made anew while the page was away. */
function shouldReplayLive({ visitor, input }: OpenedMessage, turn: AnswerStream, end: AnswerEnd): boolean {
  if (end.type === 'error') return false;
  return input.regenerate ? turn.isRegeneration && !turn.wasDelivered : !visitor.bot.privacy.keep;
}

/** An answer that is stored, as if it were made now. */
async function told(
  parts: Running,
  sending: PendingMessage<SendInput>,
  { answer }: Extract<MessageState, { kind: 'answered' }>,
): Promise<FollowedAnswer> {
  const { limits } = parts;
  const { visitor, input, thread } = sending;
  const turn = createAnswerStream({ conversation: thread.uuid, messageId: input.messageId, isRegeneration: false });
  turn.setSources(answer.sources);
  turn.addText(answer.content);
  const limit = await limits.of(visitor);
  const { forms } = await rulesOf(parts, sending);
  const shown = limit !== null && (await limits.left(limit)) <= 0 ? limits.shown(visitor.bot, limit) : null;
  turn.finish({ type: 'done', message: widgetMessage(answer), form: formOf(visitor.bot, forms), limit: shown });
  return turn;
}

function rulesOf(
  { rules }: Running,
  { visitor, input, thread, state }: PendingMessage<SendInput>,
): Promise<RuleResult> {
  const isFirst = thread.isNew || (state.kind !== 'new' && thread.messageCount <= 2);
  const happened: readonly RuleEvent[] = isFirst ? ['session_started', 'message_received'] : ['message_received'];
  return rules.run(happened, {
    visitor,
    conversation: thread.uuid,
    message: input.text,
    pageUrl: input.pageUrl,
    variables: thread.variables,
    messageCount: thread.messageCount + (state.kind === 'new' ? 1 : 0),
  });
}

async function begin(parts: Running, sending: PendingMessage<SendInput>): Promise<FollowedAnswer> {
  const { rules, registry, generate } = parts;
  const { visitor, input, thread, state } = sending;
  const { bot } = visitor;
  if (bot.consent.required && !thread.hasConsent && !input.consent) throw errors.consent_required();
  if (state.kind === 'new') checkBannedWords(bot, input.text);
  const outcome = await rulesOf(parts, sending);
  if (outcome.block !== null) {
    if (state.kind === 'new') rules.call(outcome);
    throw errors.message_refused({ values: { reason: outcome.block } });
  }
  await parts.listen();
  const accepted = await acceptMessage(parts, sending, outcome);
  if (accepted.kind === 'changed')
    return open(parts, { visitor, input, thread: await parts.threads.open(visitor, input) });
  if (accepted.kind === 'running') {
    if (accepted.messageId !== input.messageId) throw errors.turn_running();
    return followRemote(parts, sending);
  }
  if (state.kind === 'new') rules.call(outcome);
  const turn = createAnswerStream({
    conversation: thread.uuid,
    messageId: input.messageId,
    isRegeneration: input.regenerate,
  });
  registry.add(turn);
  registry.track(generate({ ...accepted.generation, turn }));
  return turn;
}

/** An answer that another node makes: followed by its end. */
function followRemote(parts: Running, { visitor, input, thread }: PendingMessage<SendInput>): FollowedAnswer {
  const { registry, leases, threads } = parts;
  const turn = createAnswerStream({ conversation: thread.uuid, messageId: input.messageId, isRegeneration: false });
  const wait = async (): Promise<void> => {
    while ((await leases.running(thread.uuid))?.messageId === input.messageId && !registry.isClosing())
      await registry.news(thread.uuid);
    // Opened anew: the conversation may have begun there.
    const found: Thread = await threads.open(visitor, input);
    const state = await found.stateOf(input.messageId);
    if (state.kind !== 'answered') throw errors.chat_failed();
    const stored = await told(parts, { visitor, input, thread: found, state }, state);
    turn.setSources(state.answer.sources);
    turn.addText(state.answer.content);
    turn.finish(await stored.ended);
  };
  registry.track(
    wait().catch((error: unknown) => {
      turn.finish(toVisitorError(error, visitor));
    }),
  );
  return turn;
}
