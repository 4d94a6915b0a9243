import type { HostApi } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import { hashOf } from '../chunks/numbered-chunks.ts';
import { tables } from '../tables.ts';

export type QuestionState = 'open' | 'answered' | 'dismissed';
export type QuestionReason = 'score' | 'rating';

/** A question that was not answered, or badly: each is kept once, with how often it was asked. */
export interface Question {
  readonly id: number;
  /** 0: of no knowledge base. */
  readonly baseId: number;
  readonly question: string;
  readonly reason: QuestionReason;
  /** Percent of the nearest passage; null: there was none, or it was not looked at. */
  readonly bestScore: number | null;
  /** What was answered, where that was rated badly. */
  readonly answer: string;
  readonly comment: string;
  /** How often. */
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

/** Whose questions. */
export interface Asker {
  readonly userId: number | null;
  readonly conversations: readonly string[];
}

export interface QuestionStore {
  get(id: number): Promise<Question | null>;
  /** Those asked most, then latest. */
  list(filter: QuestionFilter, page: { readonly limit: number; readonly offset: number }): Promise<readonly Question[]>;
  count(filter: QuestionFilter): Promise<number>;
  /** Counts one that is there; an answered one is open again where its answer was rated badly. Above 5,000 open ones no more are taken. */
  note(question: NewQuestion): Promise<void>;
  /** A rating was taken back. */
  withdraw(conversation: string, question: string): Promise<void>;
  settle(
    id: number,
    outcome: { readonly state: QuestionState; readonly sourceId?: number | null; readonly baseId?: number },
  ): Promise<void>;
  of(asker: Asker): Promise<readonly Question[]>;
  erase(asker: Asker): Promise<number>;
  /** Those of a knowledge base that is gone, and those nobody asked for half a year. */
  sweep(): Promise<void>;
  removeOf(baseId: number): Promise<void>;
}

interface Row {
  readonly id: number;
  readonly base_id: number;
  readonly question_hash: string;
  readonly question: string;
  readonly reason: QuestionReason;
  readonly best_score: number | null;
  readonly answer: string;
  readonly comment: string;
  readonly asked: number;
  readonly asked_of: string;
  readonly user_id: number;
  readonly conversation: string;
  readonly state: QuestionState;
  readonly source_id: number | null;
  readonly first_at: number | string;
  readonly last_at: number | string;
}

const longest = { question: 1_000, answer: 4_000, comment: 1_000, askedOf: 100 } as const;
const mostOpen = 5_000;
const keptFor = 180 * 86_400_000;

export function createQuestionStore({ database, clock }: Pick<HostApi, 'database' | 'clock'>): QuestionStore {
  const { knex } = database;
  const rows = () => knex<Row>(tables.questions);
  const filtered = ({ baseId, state }: QuestionFilter) =>
    rows().where({ ...(baseId !== undefined && { base_id: baseId }), ...(state !== undefined && { state }) });
  const count = async (filter: QuestionFilter): Promise<number> => {
    const [row] = (await filtered(filter).count({ total: '*' })) as { total?: number | string }[];
    return Number(row?.total ?? 0);
  };

  async function note(asked: NewQuestion): Promise<void> {
    const question = asked.question.replace(/\s+/g, ' ').trim().slice(0, longest.question);
    if (question === '' || (await count({ state: 'open' })) >= mostOpen) return;
    const now = clock.now();
    const told = {
      reason: asked.reason,
      best_score: asked.bestScore,
      answer: asked.answer.slice(0, longest.answer),
      comment: asked.comment.slice(0, longest.comment),
      asked_of: asked.askedOf.slice(0, longest.askedOf),
      user_id: asked.userId,
      conversation: asked.conversation,
      last_at: now,
    };
    const row = {
      ...told,
      base_id: asked.baseId,
      question_hash: hashOfQuestion(question),
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
      ...told,
      asked: knex.raw('?? + 1', ['asked']) as unknown as number,
      ...(asked.reason === 'rating' && { state: 'open' as const }),
    };
    await rows().where({ base_id: asked.baseId, question_hash: row.question_hash }).update(again);
  }

  const ownedBy = ({ userId, conversations }: Asker) =>
    rows().where((query) => {
      void query.whereIn('conversation', conversations.filter((uuid) => uuid !== '').slice(0, 30_000));
      if (userId !== null) void query.orWhere({ user_id: userId });
    });

  return {
    count,
    note,
    async get(id) {
      const row = (await rows().where({ id }).first()) as Row | undefined;
      return row === undefined ? null : questionOf(row);
    },
    list: async (filter, { limit, offset }) =>
      (
        (await filtered(filter)
          .orderBy('asked', 'desc')
          .orderBy('last_at', 'desc')
          .orderBy('id')
          .limit(limit)
          .offset(offset)) as Row[]
      ).map(questionOf),
    async withdraw(conversation, question) {
      await rows()
        .where({
          conversation,
          question_hash: hashOfQuestion(question.replace(/\s+/g, ' ').trim().slice(0, longest.question)),
          reason: 'rating',
          state: 'open',
          asked: 1,
        })
        .delete();
    },
    async settle(id, { state, sourceId, baseId }) {
      await rows()
        .where({ id })
        .update({ state, ...(sourceId !== undefined && { source_id: sourceId }) });
      if (baseId === undefined) return;
      // The same may have been asked of that base as well: then it stays where it is.
      const taken = knex(tables.questions).where({ base_id: baseId }).select('question_hash');
      await rows().where({ id }).whereNotIn('question_hash', taken).update({ base_id: baseId });
    },
    of: async (asker) => ((await ownedBy(asker).orderBy('id')) as Row[]).map(questionOf),
    erase: (asker) => ownedBy(asker).delete(),
    async sweep() {
      await rows()
        .where('last_at', '<', clock.now() - keptFor)
        .delete();
    },
    async removeOf(baseId) {
      await rows().where({ base_id: baseId }).delete();
    },
  };
}

function hashOfQuestion(question: string): string {
  return hashOf([
    foldText(question)
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim() || question,
  ]);
}

function questionOf(row: Row): Question {
  return {
    id: row.id,
    baseId: row.base_id,
    question: row.question,
    reason: row.reason,
    bestScore: row.best_score,
    answer: row.answer,
    comment: row.comment,
    asked: row.asked,
    askedOf: row.asked_of,
    state: row.state,
    sourceId: row.source_id,
    firstAt: Number(row.first_at),
    lastAt: Number(row.last_at),
  };
}
