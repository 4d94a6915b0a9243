import type { KnowledgeMiss } from '../../../ai/knowledge-hooks.ts';
import type { Knowledge } from '../knowledge.ts';

/** What is told of a rating (`svc_chatbot_rated`). */
export interface Rating {
  readonly bot: { readonly id: number; readonly knowledge: KnowledgeMiss['knowledge'] };
  readonly userId: number;
  readonly conversation: string;
  readonly value: 'up' | 'down' | 'none';
  readonly comment: string;
  readonly question: string;
  readonly answer: string;
}

/** Keeps a question that a knowledge base holds nothing for. */
export async function noteMiss(
  { bases, questions }: Knowledge,
  { knowledge, text, bestScore, origin, asker }: KnowledgeMiss,
): Promise<void> {
  await questions.note({
    baseId: await baseOf(bases, knowledge),
    question: text,
    reason: 'score',
    bestScore,
    answer: '',
    comment: '',
    askedOf: origin.botId === null ? origin.module : `chatbot:${String(origin.botId)}`,
    userId: asker.userId,
    conversation: asker.conversation ?? '',
  });
}

/** Keeps a question whose answer was rated badly, of chatbots that have a knowledge base; forgets it where the rating is taken back. */
export async function noteRating(
  { bases, questions }: Knowledge,
  { bot, userId, conversation, value, comment, question, answer }: Rating,
): Promise<void> {
  if (!bot.knowledge.enabled) return;
  if (value !== 'down') return questions.withdraw(conversation, question);
  await questions.note({
    baseId: await baseOf(bases, bot.knowledge),
    question,
    reason: 'rating',
    bestScore: null,
    answer,
    comment,
    askedOf: `chatbot:${String(bot.id)}`,
    userId,
    conversation,
  });
}

async function baseOf(bases: Knowledge['bases'], knowledge: KnowledgeMiss['knowledge']): Promise<number> {
  if (knowledge.base > 0) return knowledge.base;
  const { store, target, namespace } = knowledge;
  return (await bases.at({ store, target, namespace }))?.id ?? 0;
}
