import type { HostApi, Undo } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { RuleEvent } from '../rules/rule.ts';
import { acceptMessage, type AcceptParts, type PendingMessage } from './accept-message.ts';
import { widgetMessage } from './response-mappers.ts';
import { nameChatOutage, toVisitorError } from './visitor-error.ts';
import { createAnswerGenerator, type AcceptedMessage, type GenerateAnswerParts } from './generate-answer.ts';
import { createAnswerStream, type AnswerStream, type AnswerEnd } from './answer-stream.ts';
import { checkBannedWords } from './moderation.ts';
import { findForm, type RuleResult } from './rule-outcomes.ts';
import type { MessageState, Thread } from './thread.ts';
import type { ThreadInput } from './thread-access.ts';
import { createLocalAnswers, type LocalAnswers } from './local-answers.ts';
import type { Visitor } from './visitor.ts';

export interface SendInput extends ThreadInput {
  readonly regenerate: boolean;
  /** Id of the answer to regenerate; empty when the page does not name it. */
  readonly replaces: string;
}

/** An answer whose events a request can follow. */
export type FollowedAnswer = Pick<AnswerStream, 'follow' | 'ended'>;

export interface ChatTurns {
  /**
   * Sends a visitor's message. It counts once, however often it is sent: a repeated message returns its answer, follows
   * the running one on any node, or retries after a failure. The answer is generated and stored even if no request follows it.
   *
   * @throws RestError when the message is refused; nothing is stored then.
   */
  send(visitor: Visitor, input: SendInput): Promise<FollowedAnswer>;
  /** Stops the answer to a message on any node and keeps what was generated. Returns whether an answer was running. */
  stop(conversation: string, messageId: string): Promise<boolean>;
  /** Waits a few seconds for running answers, then aborts them. Their messages can be sent again. */
  close(): Promise<void>;
}

export interface ChatTurnParts extends GenerateAnswerParts, AcceptParts {
  readonly host: Pick<HostApi, 'database' | 'documents' | 'clock' | 'log'>;
}

interface RunningParts extends ChatTurnParts {
  readonly localAnswers: LocalAnswers;
  readonly generate: (accepted: AcceptedMessage) => Promise<void>;
  /** Subscribes to ends on other nodes, from the first message on. */
  readonly listen: () => Promise<void>;
}

export function createChatTurns(parts: ChatTurnParts): ChatTurns {
  const { host, turnJobs, rules } = parts;
  const localAnswers = createLocalAnswers({ clock: host.clock });
  let listening: Promise<Undo> | null = null;
  const listen = async (): Promise<void> => {
    listening ??= turnJobs.listen(localAnswers.notify);
    // If the subscription fails, waiting requests poll.
    await listening.catch(() => (listening = null));
  };
  const running: RunningParts = { ...parts, localAnswers, generate: createAnswerGenerator(parts), listen };
  return {
    async send(visitor, input) {
      const thread = await parts.threads.open(visitor, input);
      return localAnswers.runExclusive(thread.uuid, () => openTurn(running, { visitor, input, thread }));
    },
    async stop(conversation, messageId) {
      const stream = localAnswers.findRunning(conversation, messageId);
      stream?.stop();
      return stream !== null || turnJobs.requestStop(conversation, messageId);
    },
    async close() {
      await localAnswers.close();
      (await listening?.catch(() => undefined))?.();
      await rules.settled();
    },
  };
}

type OpenedMessage = Omit<PendingMessage<SendInput>, 'state'>;

async function openTurn(parts: RunningParts, opened: OpenedMessage): Promise<FollowedAnswer> {
  const { visitor, input, thread } = opened;
  const local = parts.localAnswers.find(thread.uuid, input.messageId);
  if (local !== null && (local.end === null || shouldReplayLive(opened, local.stream, local.end))) return local.stream;
  if (local === null && parts.localAnswers.isBusy(thread.uuid)) throw errors.turn_running();
  const state = await thread.messageState(input.messageId);
  if (state.kind === 'followed' || (state.kind === 'answered' && input.regenerate && !state.isLast))
    throw errors.message_followed();
  if (state.kind === 'answered' && !shouldRegenerate(input, state))
    return replayStored(parts, { ...opened, state }, state);
  if (state.kind === 'new' && input.regenerate && visitor.bot.privacy.keep) throw errors.message_not_found();
  return startTurn(parts, { ...opened, state });
}

/** Whether to replace the stored answer. If it was already regenerated, the request is a repetition. */
function shouldRegenerate(
  { regenerate, replaces }: SendInput,
  { answer }: Extract<MessageState, { kind: 'answered' }>,
): boolean {
  return regenerate && (replaces === '' || replaces === answer.id);
}

/**
 * Whether to replay an answer that just ended and that the database does not show as new: of a conversation that is not
 * stored, or regenerated while the page was disconnected.
 */
function shouldReplayLive({ visitor, input }: OpenedMessage, stream: AnswerStream, end: AnswerEnd): boolean {
  if (end.type === 'error') return false;
  return input.regenerate ? stream.isRegeneration && !stream.wasDelivered() : !visitor.bot.privacy.keep;
}

/** Replays a stored answer as a stream that has ended. */
async function replayStored(
  parts: RunningParts,
  pending: PendingMessage<SendInput>,
  { answer }: Extract<MessageState, { kind: 'answered' }>,
): Promise<FollowedAnswer> {
  const { limits } = parts;
  const { visitor, input, thread } = pending;
  const stream = createAnswerStream({ conversation: thread.uuid, messageId: input.messageId, isRegeneration: false });
  stream.setSources(answer.sources);
  stream.addText(answer.content);
  const limit = await limits.of(visitor);
  const { forms } = await runMessageRules(parts, pending);
  stream.finish({
    type: 'done',
    message: widgetMessage(answer),
    form: findForm(visitor.bot, forms),
    limit: await limits.usedUp(limit, visitor.bot.limits),
  });
  return stream;
}

function runMessageRules(
  { rules }: RunningParts,
  { visitor, input, thread, state }: PendingMessage<SendInput>,
): Promise<RuleResult> {
  const isFirst = thread.isNew || (state.kind !== 'new' && thread.messageCount <= 2);
  const events: readonly RuleEvent[] = isFirst ? ['session_started', 'message_received'] : ['message_received'];
  return rules.run(events, {
    visitor,
    conversation: thread.uuid,
    message: input.text,
    pageUrl: input.pageUrl,
    variables: thread.variables(),
    messageCount: thread.messageCount + (state.kind === 'new' ? 1 : 0),
  });
}

async function startTurn(parts: RunningParts, pending: PendingMessage<SendInput>): Promise<FollowedAnswer> {
  const { rules, localAnswers, generate } = parts;
  const { visitor, input, thread, state } = pending;
  const { bot } = visitor;
  if (bot.consent.required && !thread.hasConsent && !input.consent) throw errors.consent_required();
  if (state.kind === 'new') checkBannedWords(bot, input.text);
  const outcome = await runMessageRules(parts, pending);
  if (outcome.block !== null) {
    if (state.kind === 'new') rules.callHooks(outcome);
    throw errors.message_refused({ values: { reason: outcome.block } });
  }
  await parts.listen();
  const accepted = await acceptMessage(parts, pending, outcome);
  if (accepted.kind === 'changed')
    return openTurn(parts, { visitor, input, thread: await parts.threads.open(visitor, input) });
  if (accepted.kind === 'running') {
    if (accepted.messageId !== input.messageId) throw errors.turn_running();
    return followRemote(parts, pending);
  }
  if (state.kind === 'new') rules.callHooks(outcome);
  const stream = createAnswerStream({
    conversation: thread.uuid,
    messageId: input.messageId,
    isRegeneration: input.regenerate,
  });
  localAnswers.add(stream);
  localAnswers.track(generate({ ...accepted.message, stream }));
  return stream;
}

/** Waits for an answer that another node is generating, and replays it when it is stored. */
function followRemote(parts: RunningParts, { visitor, input, thread }: PendingMessage<SendInput>): FollowedAnswer {
  const { host, localAnswers, turnJobs, threads } = parts;
  const stream = createAnswerStream({ conversation: thread.uuid, messageId: input.messageId, isRegeneration: false });
  const wait = async (): Promise<void> => {
    while ((await turnJobs.findRunning(thread.uuid)) === input.messageId && !localAnswers.isClosing())
      await localAnswers.waitForChange(thread.uuid);
    // Opened again, because the other node may have created the conversation.
    const found: Thread = await threads.open(visitor, input);
    const state = await found.messageState(input.messageId);
    if (state.kind !== 'answered') throw errors.chat_failed();
    const stored = await replayStored(parts, { visitor, input, thread: found, state }, state);
    stream.setSources(state.answer.sources);
    stream.addText(state.answer.content);
    stream.finish(await stored.ended);
  };
  localAnswers.track(
    wait().catch((error: unknown) => {
      stream.finish(toVisitorError(nameChatOutage(host.database, error), visitor));
    }),
  );
  return stream;
}
