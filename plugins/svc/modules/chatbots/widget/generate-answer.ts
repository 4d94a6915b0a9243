import { randomUUID } from 'node:crypto';
import type { HostApi } from '#plugin-api';
import { estimateUsage } from '../../../ai/estimate-tokens.ts';
import { errors } from '../../../kit/errors.ts';
import type { NewMessage } from '../conversations/conversation.ts';
import type { CreateReply, Reply } from '../reply/reply.ts';
import type { EventSubject, WidgetEvents } from './events.ts';
import { errorCodeOf, toVisitorError } from './visitor-error.ts';
import type { ActiveLimit, Limits, Reservation } from './limits.ts';
import type { AnswerStream, AnswerEnd } from './answer-stream.ts';
import type { WidgetMessage } from './protocol.ts';
import { formOf, changesConversation, type RuleResult, type Rules } from './rule-outcomes.ts';
import type { SignedIds } from './signed-id.ts';
import type { Thread } from './thread.ts';
import { heartbeatInterval, type Lease, type TurnLeases } from './turn-leases.ts';
import type { Visitor } from './visitor.ts';

export interface GenerateAnswerParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'log'>;
  readonly reply: CreateReply;
  readonly events: WidgetEvents;
  readonly limits: Limits;
  readonly leases: TurnLeases;
  readonly rules: Rules;
  readonly ids: SignedIds;
}

/** A message that is accepted, to be answered. */
export interface AcceptedMessage {
  readonly turn: AnswerStream;
  readonly visitor: Visitor;
  readonly thread: Thread;
  /** Of the rules that ran for the message. */
  readonly outcome: RuleResult;
  /** Id of the answer that is made anew. */
  readonly replaces: string | null;
  readonly lease: Lease;
  readonly reservation: Reservation | null;
  readonly limit: ActiveLimit | null;
  /** Most tokens the answer may have, where a limit of tokens says so. */
  readonly mostTokens: number | null;
  readonly message: { readonly id: string; readonly text: string };
  readonly pageUrl: string;
}

/** How an answer ends. */
interface AnswerResult {
  /** Null: nothing is stored. */
  readonly answer: Omit<NewMessage, 'id' | 'role'> | null;
  /** What made it; left out where no model did. */
  readonly ai?: { readonly provider: string; readonly model: string };
  /** Messages or tokens, whichever the limit counts. */
  readonly used: { readonly messages: number; readonly tokens: number };
  /** What rules made of it. */
  readonly outcome: Pick<RuleResult, 'forms' | 'calls'> & { readonly notes: RuleResult | null };
}

/** Makes the answer, from the model or from a rule, and stores it. Never rejects. */
export function createAnswerGenerator(parts: GenerateAnswerParts): (generation: AcceptedMessage) => Promise<void> {
  const { host } = parts;
  const finish = createFinish(parts);

  return async (generation) => {
    const { turn, visitor, lease } = generation;
    const undo = beat(parts, generation);
    try {
      turn.finish(await finish(generation, await answerOf(parts, generation)));
    } catch (error) {
      if (errorCodeOf(error) !== 'rest_svc_chat_failed')
        host.log.error('An answer of a chatbot could not be stored', {
          bot: visitor.bot.id,
          conversation: lease.conversation,
          error,
        });
      turn.finish(toVisitorError(errors.chat_failed(), visitor));
    } finally {
      undo();
    }
  };
}

/** Tells the other nodes that this one is alive, and hears of a stop where its notification was lost. */
function beat({ host, leases }: GenerateAnswerParts, { turn, lease }: AcceptedMessage): () => void {
  return host.clock.every(heartbeatInterval, () => {
    leases.extend(lease).then(
      (held) => {
        if (held === null) turn.cancel();
        else if (held.stopped) turn.stop();
      },
      (error: unknown) => {
        host.log.warn('The lease of an answer could not be extended', { error });
      },
    );
  });
}

async function answerOf(parts: GenerateAnswerParts, generation: AcceptedMessage): Promise<AnswerResult | AnswerEnd> {
  const { turn, outcome } = generation;
  const settled = { forms: outcome.forms, calls: [], notes: null };
  if (outcome.reply !== null) {
    turn.addText(outcome.reply);
    return { answer: { content: outcome.reply }, used: { messages: 1, tokens: 0 }, outcome: settled };
  }
  try {
    const made = await ask(parts, generation);
    const { content, provider, model, usage, cost, sources } = made;
    return {
      answer: { content, provider, model, usage, cost, sources },
      ai: { provider, model },
      used: { messages: 1, tokens: usage.total_tokens },
      outcome: settled,
    };
  } catch (error) {
    if (turn.isStopped) return stopped(generation);
    return failed(parts, generation, error);
  }
}

async function ask(
  { reply }: GenerateAnswerParts,
  { turn, visitor, thread, outcome, mostTokens, message }: AcceptedMessage,
): Promise<Reply> {
  const { bot, user } = visitor;
  const most =
    mostTokens === null ? bot.max_completion_tokens : Math.max(1, Math.min(bot.max_completion_tokens, mostTokens));
  return reply({
    bot: { ...bot, max_completion_tokens: most },
    messages: await thread.told(message.id, bot.max_messages),
    user,
    conversation: thread.uuid,
    contexts: outcome.contexts,
    origin: { module: 'chatbots', route: null, botId: bot.id },
    signal: turn.signal,
    onText: (piece) => {
      turn.addText(piece);
    },
    onSources: (sources) => {
      turn.setSources(sources);
    },
  });
}

/** What there was when the visitor stopped it. */
async function stopped({ turn, thread, visitor, message }: AcceptedMessage): Promise<AnswerResult> {
  const { text } = turn;
  const { total_tokens: tokens } = await estimateUsage(
    { system: visitor.bot.instructions, messages: await thread.told(message.id, visitor.bot.max_messages) },
    text,
  );
  return {
    answer: text === '' ? null : { content: text, isPartial: true },
    used: { messages: 1, tokens },
    outcome: { forms: [], calls: [], notes: null },
  };
}

/** A failure: what rules say to it, else the failure. */
async function failed(
  { host, rules }: GenerateAnswerParts,
  { visitor, thread, message, pageUrl, turn }: AcceptedMessage,
  error: unknown,
): Promise<AnswerResult | AnswerEnd> {
  if (turn.signal.aborted) return toVisitorError(errors.chat_failed(), visitor);
  host.log.warn('A chatbot could not answer', { bot: visitor.bot.id, conversation: thread.uuid, error });
  const outcome = await rules.run(['error'], {
    visitor,
    conversation: thread.uuid,
    message: message.text,
    messageCount: thread.messageCount + 1,
    pageUrl,
    variables: thread.variables,
    errorCode: errorCodeOf(error),
  });
  const said = outcome.reply ?? outcome.block;
  const used = { messages: 0, tokens: 0 };
  if (said === null && outcome.forms.length === 0) {
    rules.call(outcome);
    return toVisitorError(error, visitor);
  }
  return {
    answer: said === null ? null : { content: said },
    used,
    outcome: {
      forms: outcome.forms,
      calls: outcome.calls,
      notes: changesConversation(outcome, visitor.bot) ? outcome : null,
    },
  };
}

/** The other transaction of a message: its answer, what was really used of limits, its event. What was made under a lost lease does not count. */
function createFinish({
  host,
  events,
  limits,
  leases,
  rules,
  ids,
}: GenerateAnswerParts): (generation: AcceptedMessage, ending: AnswerResult | AnswerEnd) => Promise<AnswerEnd> {
  async function store(
    { thread, visitor, replaces, message }: AcceptedMessage,
    { answer, ai }: AnswerResult,
  ): Promise<WidgetMessage> {
    const id = await ids.make(['answer', thread.uuid], [message.id, randomUUID()]);
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
    const added = await thread.answer({ id, role: 'assistant', ...answer }, replaces);
    const scene: EventSubject = {
      bot: visitor.bot,
      userId: visitor.user.id,
      conversation: thread.uuid,
      messageCount: added.count,
    };
    // One that was stopped is not completed (contract 6.2).
    if (answer.isPartial !== true)
      await events.response(scene, { message, response: { id, text: answer.content }, ai });
    return added.message;
  }

  return async (generation, ending) => {
    const { lease, reservation, limit, visitor, thread } = generation;
    const stored = await host.database.transaction(async () => {
      if (!(await leases.release(lease))) throw errors.chat_failed();
      const used = 'used' in ending ? ending.used : { messages: 0, tokens: 0 };
      if (reservation !== null) await limits.settle(reservation, used[reservation.unit]);
      if (!('used' in ending)) return null;
      const message = await store(generation, ending);
      if (ending.outcome.notes !== null) await thread.note(ending.outcome.notes);
      return message;
    });
    if (stored === null || !('used' in ending)) return ending as AnswerEnd;
    rules.call(ending.outcome);
    const isUsedUp = limit !== null && (await limits.left(limit)) <= 0;
    return {
      type: 'done',
      message: stored,
      form: formOf(visitor.bot, ending.outcome.forms),
      limit: isUsedUp ? limits.shown(visitor.bot, limit) : null,
    };
  };
}
