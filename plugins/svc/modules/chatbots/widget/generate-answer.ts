import { randomUUID } from 'node:crypto';
import { JobLostError, type HostApi, type RunningJob, type StartedJob } from '#plugin-api';
import { estimateUsage } from '../../../ai/estimate-tokens.ts';
import { errors } from '../../../kit/errors.ts';
import type { NewMessage } from '../conversations/conversation.ts';
import { promptMessages, type CreateReply, type Reply } from '../reply/reply.ts';
import type { EventSubject, WidgetEvents } from './events.ts';
import { errorCodeOf, nameChatOutage, toVisitorError } from './visitor-error.ts';
import type { ActiveLimit, Limits, Reservation } from './limits.ts';
import type { AnswerStream, AnswerEnd } from './answer-stream.ts';
import type { WidgetMessage } from './protocol.ts';
import { findForm, changesConversation, type RuleResult, type Rules } from './rule-outcomes.ts';
import type { SignedIds } from './signed-id.ts';
import type { Thread } from './thread.ts';
import type { TurnJobs } from './turn-jobs.ts';
import type { Visitor } from './visitor.ts';

export interface GenerateAnswerParts {
  readonly host: Pick<HostApi, 'database' | 'documents' | 'clock' | 'log'>;
  readonly reply: CreateReply;
  readonly events: WidgetEvents;
  readonly limits: Limits;
  readonly turnJobs: TurnJobs;
  readonly rules: Rules;
  readonly ids: SignedIds;
}

/** A message that was accepted and is to be answered. */
export interface AcceptedMessage {
  readonly stream: AnswerStream;
  readonly visitor: Visitor;
  readonly thread: Thread;
  /** Result of the rules that ran for the message. */
  readonly outcome: RuleResult;
  /** Id of the answer to replace; null for a first answer. */
  readonly replaces: string | null;
  readonly turn: StartedJob;
  readonly reservation: Reservation | null;
  readonly limit: ActiveLimit | null;
  /** Longest answer that a token limit allows; null without one. */
  readonly maxTokens: number | null;
  readonly message: { readonly id: string; readonly text: string };
  readonly pageUrl: string;
}

/** A finished answer and what it leads to. */
interface AnswerResult {
  /** Null when nothing is stored. */
  readonly answer: Omit<NewMessage, 'id' | 'role'> | null;
  /** Provider and model; omitted when a rule replied. */
  readonly ai?: { readonly provider: string; readonly model: string };
  /** The unit of the limit decides which of the two counts. */
  readonly used: { readonly messages: number; readonly tokens: number };
  /** What rules add; `changes` is what they store with the conversation. */
  readonly outcome: Pick<RuleResult, 'forms' | 'calls' | 'urlCalls'> & { readonly changes: RuleResult | null };
}

/** Creates a function that generates the answer, by the model or a rule, and stores it. It never rejects. */
export function createAnswerGenerator(parts: GenerateAnswerParts): (accepted: AcceptedMessage) => Promise<void> {
  const { host } = parts;
  const storeResult = createResultStore(parts);

  return async (accepted) => {
    const { stream, visitor, thread, turn } = accepted;
    try {
      await turn.run(async (job) => {
        job.signal.addEventListener('abort', () => stream.cancel(), { once: true });
        job.stopRequested.addEventListener('abort', () => stream.stop(), { once: true });
        stream.finish(await storeResult(accepted, job, await createAnswer(parts, accepted)));
      });
    } catch (error) {
      if (!(error instanceof JobLostError))
        host.log.error('Failed to store a chatbot answer', {
          event: 'chatbot_answer_store_failed',
          bot: visitor.bot.id,
          conversation: thread.uuid,
          error,
        });
      stream.finish(toVisitorError(nameChatOutage(host.database, error), visitor));
    }
  };
}

async function createAnswer(parts: GenerateAnswerParts, accepted: AcceptedMessage): Promise<AnswerResult | AnswerEnd> {
  const { stream, outcome } = accepted;
  const unchanged = { forms: outcome.forms, calls: [], urlCalls: [], changes: null };
  if (outcome.reply !== null) {
    stream.addText(outcome.reply);
    return { answer: { content: outcome.reply }, used: { messages: 1, tokens: 0 }, outcome: unchanged };
  }
  try {
    const { content, provider, model, usage, cost, sources, finish } = await requestReply(parts, accepted);
    return {
      answer: { content, provider, model, usage, cost, sources, isPartial: finish !== undefined },
      ai: { provider, model },
      used: { messages: 1, tokens: usage.total_tokens },
      outcome: unchanged,
    };
  } catch (error) {
    if (stream.isStopped()) return stoppedAnswer(parts, accepted);
    return failedAnswer(parts, accepted, error);
  }
}

async function requestReply(
  { reply }: GenerateAnswerParts,
  { stream, visitor, thread, outcome, maxTokens, message }: AcceptedMessage,
): Promise<Reply> {
  const { bot, user } = visitor;
  const longest = Math.max(1, Math.min(bot.max_completion_tokens, maxTokens ?? Number.POSITIVE_INFINITY));
  return reply({
    bot: { ...bot, max_completion_tokens: longest },
    messages: await thread.history(message.id, bot.max_messages),
    user,
    conversation: thread.uuid,
    contexts: outcome.contexts,
    origin: { module: 'chatbots', route: null, botId: bot.id, userId: visitor.owner.userId },
    signal: stream.signal,
    onText: (piece) => {
      stream.addText(piece);
    },
    onSources: (sources) => {
      stream.setSources(sources);
    },
  });
}

/** The part of an answer that was generated before the visitor stopped it. */
async function stoppedAnswer(
  { host }: GenerateAnswerParts,
  { stream, thread, visitor, message }: AcceptedMessage,
): Promise<AnswerResult> {
  const text = stream.text();
  const { bot } = visitor;
  const { total_tokens: tokens } = await estimateUsage(
    { system: bot.instructions, messages: promptMessages(bot, await thread.history(message.id, bot.max_messages)) },
    text,
    host,
  );
  return {
    answer: text === '' ? null : { content: text, isPartial: true },
    used: { messages: 1, tokens },
    outcome: { forms: [], calls: [], urlCalls: [], changes: null },
  };
}

/** The reply of the rules for `error`, or the error. */
async function failedAnswer(
  { host, rules }: GenerateAnswerParts,
  { visitor, thread, message, pageUrl, stream }: AcceptedMessage,
  error: unknown,
): Promise<AnswerResult | AnswerEnd> {
  if (stream.signal.aborted) return toVisitorError(errors.chat_failed(), visitor);
  host.log.warn('Chatbot answer failed', {
    event: 'chatbot_answer_failed',
    bot: visitor.bot.id,
    conversation: thread.uuid,
    error,
  });
  if (host.database.isUnavailable(error)) return toVisitorError(nameChatOutage(host.database, error), visitor);
  const outcome = await rules.run(['error'], {
    visitor,
    conversation: thread.uuid,
    message: message.text,
    messageCount: thread.messageCount + 1,
    pageUrl,
    variables: thread.variables(),
    errorCode: errorCodeOf(error),
  });
  const reply = outcome.reply ?? outcome.block;
  const used = { messages: 0, tokens: 0 };
  if (reply === null && outcome.forms.length === 0) {
    rules.callHooks(outcome);
    return toVisitorError(error, visitor);
  }
  return {
    answer: reply === null ? null : { content: reply },
    used,
    outcome: {
      forms: outcome.forms,
      calls: outcome.calls,
      urlCalls: outcome.urlCalls,
      changes: changesConversation(outcome, visitor.bot) ? outcome : null,
    },
  };
}

/**
 * Creates a function that stores the answer, settles the limit and emits the event in one transaction. An answer whose
 * job was lost is discarded.
 */
function createResultStore({
  host,
  events,
  limits,
  turnJobs,
  rules,
  ids,
}: GenerateAnswerParts): (
  accepted: AcceptedMessage,
  job: RunningJob,
  result: AnswerResult | AnswerEnd,
) => Promise<AnswerEnd> {
  async function storeAnswer(
    { thread, visitor, replaces, message }: AcceptedMessage,
    { answer, ai }: AnswerResult,
    id: string,
  ): Promise<WidgetMessage> {
    if (answer === null)
      return {
        id,
        role: 'assistant',
        content: '',
        created_at: new Date(host.clock.now()).toISOString(),
        sources: [],
        is_partial: true,
        feedback: 'none',
      };
    const added = await thread.addAnswer({ id, role: 'assistant', ...answer }, replaces);
    const subject: EventSubject = {
      bot: visitor.bot,
      ...visitor.owner,
      conversation: thread.uuid,
      messageCount: added.count,
    };
    // A stopped answer is not complete and emits no event (contract 6.2); one that the model's limit cut is.
    if (answer.isPartial !== true || ai !== undefined)
      await events.response(subject, { message, response: { id, text: answer.content }, ai });
    return added.message;
  }

  return async (accepted, job, result) => {
    const { reservation, limit, visitor, thread } = accepted;
    const id = await ids.create(['answer', thread.uuid], [accepted.message.id, randomUUID()]);
    let message: WidgetMessage | undefined;
    await job.commit(async () => {
      await turnJobs.notifyEnd(thread.uuid);
      const used = 'used' in result ? result.used : { messages: 0, tokens: 0 };
      if (reservation !== null) await limits.settle(reservation, used[reservation.unit]);
      if (!('used' in result)) return;
      message = await storeAnswer(accepted, result, id);
      if (result.outcome.changes !== null) await thread.saveRuleChanges(result.outcome.changes);
    });
    if (message === undefined || !('used' in result)) return result as AnswerEnd;
    rules.callHooks(result.outcome);
    return {
      type: 'done',
      message,
      form: findForm(visitor.bot, result.outcome.forms),
      limit: await limits.usedUp(limit, visitor.bot.limits),
    };
  };
}
