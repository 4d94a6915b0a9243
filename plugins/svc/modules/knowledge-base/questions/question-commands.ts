import type { CliCommand } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import type { KnowledgeBase } from '../bases/base.ts';
import { knowledgeOf } from '../knowledge.ts';
import { answerQuestion } from './answer-question.ts';
import type { QuestionState } from './question-store.ts';

/** `svc knowledge questions` and `svc knowledge answer`. */
export function questionCommands(
  context: ServiceContext,
  baseOf: (id: string) => Promise<KnowledgeBase>,
): readonly CliCommand[] {
  const { questions } = knowledgeOf(context);
  return [
    {
      name: 'svc knowledge questions',
      description: 'Lists questions that were not answered, or badly.',
      flags: {
        state: { type: 'string', enum: ['open', 'answered', 'dismissed'], description: 'In which state' },
        limit: { type: 'integer', minimum: 1, maximum: 5_000, description: 'Most of them' },
      },
      async run({ flags }) {
        const found = await questions.list(
          { state: (flags['state'] ?? 'open') as QuestionState },
          { limit: Number(flags['limit'] ?? 100), offset: 0 },
        );
        return found.map(({ id, baseId, question, reason, bestScore, asked, askedOf }) => ({
          id,
          base: baseId,
          question,
          reason,
          best_score: bestScore,
          asked,
          asked_of: askedOf,
        }));
      },
    },
    {
      name: 'svc knowledge answer',
      description: 'Writes the answer to a question into a knowledge base.',
      args: [
        { name: 'question', description: 'Id of the question' },
        { name: 'answer', description: 'The answer', rest: true },
      ],
      flags: { base: { type: 'string', description: 'Id of the knowledge base; left out: the one that was asked' } },
      async run({ args: [id = '', ...words], flags }) {
        const question = /^\d{1,9}$/.test(id) ? await questions.get(Number(id)) : null;
        if (question === null) throw new Error(`There is no question ${id}.`);
        const base = typeof flags['base'] === 'string' ? await baseOf(flags['base']) : null;
        const { base: taught, source } = await answerQuestion(context, question, {
          answer: words.join(' '),
          baseId: base?.id ?? 0,
        });
        await knowledgeOf(context).drain();
        return `${taught.name} has learned the answer (source ${String(source.id)}).`;
      },
    },
  ];
}
