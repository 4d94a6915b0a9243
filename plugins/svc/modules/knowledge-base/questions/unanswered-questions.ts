import { invalidFields } from '#plugin-api';
import type { KnowledgeMiss } from '../hooks.ts';
import type { KnowledgeParts } from '../knowledge.ts';
import type { KnowledgeBase } from '../bases/base-store.ts';
import { addSourcesTo } from '../sources/add-source.ts';
import type { Source } from '../sources/source.ts';
import type { Question } from './question-store.ts';

/** A rating (`svc_chatbot_rated`). */
export interface Rating {
  readonly bot: { readonly id: number; readonly knowledge: KnowledgeMiss['knowledge'] };
  readonly userId: number;
  readonly conversation: string;
  readonly value: 'up' | 'down' | 'none';
  readonly comment: string;
  readonly question: string;
  readonly answer: string;
}

/** Records a question without a matching passage. */
export async function recordMiss(
  { bases, questions }: KnowledgeParts,
  { knowledge, text, bestScore, origin, asker }: KnowledgeMiss,
): Promise<void> {
  await questions.record({
    baseId: await findBaseId(bases, knowledge),
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

/** Records a question whose answer got a bad rating, if the chatbot uses knowledge. Removes it if the rating is withdrawn. */
export async function recordRating(
  { bases, questions }: KnowledgeParts,
  { bot, userId, conversation, value, comment, question, answer }: Rating,
): Promise<void> {
  if (!bot.knowledge.enabled) return;
  if (value !== 'down') return questions.withdraw(conversation, question);
  await questions.record({
    baseId: await findBaseId(bases, bot.knowledge),
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

async function findBaseId(bases: KnowledgeParts['bases'], knowledge: KnowledgeMiss['knowledge']): Promise<number> {
  if (knowledge.base > 0) return knowledge.base;
  const { store, target, namespace } = knowledge;
  return (await bases.findByTarget({ store, target, namespace }))?.id ?? 0;
}

/** Adds the answer to a question as a source of a knowledge base. @throws RestError 400 */
export async function answerQuestion(
  parts: KnowledgeParts,
  question: Question,
  { answer, baseId }: { readonly answer: string; readonly baseId: number },
): Promise<{ readonly base: KnowledgeBase; readonly source: Source }> {
  const { bases, questions } = parts;
  const base = await bases.get(baseId > 0 ? baseId : question.baseId);
  if (base?.state !== 'active') throw invalidFields({ base: 'Choose the knowledge base to add the answer to.' });
  const source = await addSourcesTo(parts, base).answer({ question: question.question, answer });
  await questions.resolve(question.id, {
    state: 'answered',
    sourceId: source.id,
    ...(question.baseId !== base.id && { baseId: base.id }),
  });
  return { base, source };
}
