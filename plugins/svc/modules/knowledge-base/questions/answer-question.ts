import type { ServiceContext } from '../../../wiring.ts';
import type { KnowledgeBase } from '../bases/base.ts';
import { refused } from '../bases/create-base.ts';
import { knowledgeOf } from '../knowledge.ts';
import { addSourcesTo } from '../sources/add-source.ts';
import type { Source } from '../sources/source.ts';
import type { Question } from './question-store.ts';

/** Makes the answer to a question a source of a knowledge base: from then on it is found. @throws RestError 400 */
export async function answerQuestion(
  context: ServiceContext,
  question: Question,
  { answer, baseId }: { readonly answer: string; readonly baseId: number },
): Promise<{ readonly base: KnowledgeBase; readonly source: Source }> {
  const { bases, questions } = knowledgeOf(context);
  const base = await bases.get(baseId > 0 ? baseId : question.baseId);
  if (base?.state !== 'active') throw refused({ base: 'Choose the knowledge base that is to learn the answer.' });
  const source = await addSourcesTo(context, base).answer({ question: question.question, answer });
  await questions.settle(question.id, {
    state: 'answered',
    sourceId: source.id,
    ...(question.baseId !== base.id && { baseId: base.id }),
  });
  return { base, source };
}
