import { createRowMapper, type HostApi } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import { hashTexts } from '../chunks/chunk-text.ts';
import { tables } from '../tables.ts';
import { countRows, type RowPage } from '../../../kit/table-reads.ts';

export type QuestionState = 'open' | 'answered' | 'dismissed';
export type QuestionReason = 'score' | 'rating';

/** A question without a good answer. Each is stored once, with a count. */
export interface Question {
  readonly id: number;
  /** 0: belongs to no knowledge base. */
  readonly baseId: number;
  readonly question: string;
  readonly reason: QuestionReason;
  /** Score of the best passage in percent; null if none was found, or for a rating. */
  readonly bestScore: number | null;
  /** The answer that got the bad rating. */
  readonly answer: string;
  readonly comment: string;
  /** How often it was asked. */
  readonly asked: number;
  /** For example `chatbot:3`. */
  readonly askedOf: string;
  readonly state: QuestionState;
  readonly sourceId: number | null;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
}

export interface NewQuestion extends Pick<
  Question,
  'baseId' | 'question' | 'reason' | 'bestScore' | 'answer' | 'comment' | 'askedOf'
> {
  readonly userId: number;
  readonly conversation: string;
}

export interface QuestionFilter {
  readonly baseId?: number;
  readonly state?: QuestionState;
}

/** The person whose questions are selected. */
export interface Asker {
  readonly userId: number | null;
  readonly conversations: readonly string[];
}

export interface QuestionStore {
  get(id: number): Promise<Question | null>;
  /** Most asked first, then the latest. */
  list(filter: QuestionFilter, page: RowPage): Promise<readonly Question[]>;
  count(filter: QuestionFilter): Promise<number>;
  /** Adds or counts a question. A bad rating reopens an answered one. Does nothing above 5,000 open questions. */
  record(question: NewQuestion): Promise<void>;
  /** Removes the question of a withdrawn rating. */
  withdraw(conversation: string, question: string): Promise<void>;
  resolve(
    id: number,
    outcome: { readonly state: QuestionState; readonly sourceId?: number | null; readonly baseId?: number },
  ): Promise<void>;
  listByAsker(asker: Asker): Promise<readonly Question[]>;
  erase(asker: Asker): Promise<number>;
  /** Deletes questions that were not asked for half a year. */
  sweep(): Promise<void>;
}

const { first, all } = createRowMapper<Question>({ others: ['question_hash', 'user_id', 'conversation'] });

const maxLengths = { question: 1_000, answer: 4_000, comment: 1_000, askedOf: 100 } as const;
const maxOpen = 5_000;
const retentionTime = 180 * 86_400_000;

export function createQuestionStore({ database, clock }: Pick<HostApi, 'database' | 'clock'>): QuestionStore {
  const { knex } = database;
  const rows = () => knex(tables.questions);
  const filtered = ({ baseId, state }: QuestionFilter) =>
    rows().where({ ...(baseId !== undefined && { base_id: baseId }), ...(state !== undefined && { state }) });
  const count = (filter: QuestionFilter): Promise<number> => countRows(filtered(filter));

  async function record(asked: NewQuestion): Promise<void> {
    const question = asked.question.replace(/\s+/g, ' ').trim().slice(0, maxLengths.question);
    if (question === '' || (await count({ state: 'open' })) >= maxOpen) return;
    const now = clock.now();
    const columns = {
      reason: asked.reason,
      best_score: asked.bestScore,
      answer: asked.answer.slice(0, maxLengths.answer),
      comment: asked.comment.slice(0, maxLengths.comment),
      asked_of: asked.askedOf.slice(0, maxLengths.askedOf),
      user_id: asked.userId,
      conversation: asked.conversation,
      last_at: now,
    };
    const row = {
      ...columns,
      base_id: asked.baseId,
      question_hash: hashQuestion(question),
      question,
      asked: 1,
      state: 'open' as const,
      source_id: null,
      first_at: now,
    };
    const added = (await rows()
      .insert(row)
      .onConflict(['base_id', 'question_hash'])
      .ignore()
      .returning('id')) as unknown[];
    if (added.length > 0) return;
    const again = {
      ...columns,
      asked: knex.raw('?? + 1', ['asked']) as unknown as number,
      ...(asked.reason === 'rating' && { state: 'open' as const }),
    };
    await rows().where({ base_id: asked.baseId, question_hash: row.question_hash }).update(again);
  }

  const whereAskedBy = ({ userId, conversations }: Asker) =>
    rows().where((query) => {
      void query.whereIn('conversation', conversations.filter((uuid) => uuid !== '').slice(0, 30_000));
      if (userId !== null) void query.orWhere({ user_id: userId });
    });

  return {
    count,
    record,
    get: (id) => first(rows().where({ id })),
    list: (filter, { limit, offset }) =>
      all(
        filtered(filter).orderBy('asked', 'desc').orderBy('last_at', 'desc').orderBy('id').limit(limit).offset(offset),
      ),
    async withdraw(conversation, question) {
      await rows()
        .where({
          conversation,
          question_hash: hashQuestion(question.replace(/\s+/g, ' ').trim().slice(0, maxLengths.question)),
          reason: 'rating',
          state: 'open',
          asked: 1,
        })
        .delete();
    },
    async resolve(id, { state, sourceId, baseId }) {
      await rows()
        .where({ id })
        .update({ state, ...(sourceId !== undefined && { source_id: sourceId }) });
      if (baseId === undefined) return;
      // That base may already have the same question; this one then stays.
      const existing = knex(tables.questions).where({ base_id: baseId }).select('question_hash');
      await rows().where({ id }).whereNotIn('question_hash', existing).update({ base_id: baseId });
    },
    listByAsker: (asker) => all(whereAskedBy(asker).orderBy('id')),
    erase: (asker) => whereAskedBy(asker).delete(),
    async sweep() {
      await rows()
        .where('last_at', '<', clock.now() - retentionTime)
        .delete();
    },
  };
}

function hashQuestion(question: string): string {
  return hashTexts([
    foldText(question)
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim() || question,
  ]);
}
