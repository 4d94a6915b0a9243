import { createRowMapper, type HostApi } from '#plugin-api';
import type { KnowledgeBaseEntry } from '../../../kit/assistants/assistant-knowledge.ts';
import { deleteBaseJob, tables } from '../tables.ts';

/** A knowledge base: where its passages are stored, and how they are split and embedded. */
export interface KnowledgeBase extends KnowledgeBaseEntry {
  /** Maximum tokens of a passage, 50 to 8,000. */
  readonly chunkTokens: number;
  /** Tokens that a passage repeats from the previous one; less than half of `chunkTokens`. */
  readonly overlapTokens: number;
  /** Post types whose posts are indexed when published or changed, and removed when no longer public. */
  readonly follows: readonly string[];
  readonly state: 'active' | 'deleting';
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type NewBase = Pick<
  KnowledgeBase,
  'name' | 'store' | 'target' | 'namespace' | 'embeddingProvider' | 'embeddingModel' | 'chunkTokens' | 'overlapTokens'
>;
export type BaseChanges = Partial<Pick<KnowledgeBase, 'name' | 'chunkTokens' | 'overlapTokens' | 'follows'>>;

export const defaultChunks = { chunkTokens: 400, overlapTokens: 60 } as const;

const { fromRow, toRow, first, all } = createRowMapper<KnowledgeBase>({
  json: ['follows'],
  others: ['removes_target'],
});

interface BaseRow {
  readonly removes_target: number;
}

/** The knowledge bases of the site. */
export interface BaseStore {
  get(id: number): Promise<KnowledgeBase | null>;
  /** All bases by name, including those being deleted. */
  list(): Promise<readonly KnowledgeBase[]>;
  /** The base that uses an index or collection. */
  findByTarget(target: Pick<KnowledgeBase, 'store' | 'target' | 'namespace'>): Promise<KnowledgeBase | null>;
  add(base: NewBase): Promise<KnowledgeBase>;
  update(id: number, changes: BaseChanges): Promise<void>;
  /** @param removesTarget whether to delete the index or collection after the last source */
  markDeleting(id: number, removesTarget: boolean): Promise<void>;
  /** A base being deleted that has no sources left. */
  findEmptied(id: number): Promise<(KnowledgeBase & { readonly removesTarget: boolean }) | null>;
  remove(id: number): Promise<void>;
  /** Deletes a base and its sources here only: for a vector store that no longer exists. */
  forget(id: number): Promise<void>;
}

export function createBaseStore({ database, clock, jobs }: Pick<HostApi, 'database' | 'clock' | 'jobs'>): BaseStore {
  const rows = () => database.knex(tables.bases);
  return {
    get: (id) => first(rows().where({ id })),
    list: () => all(rows().orderBy('name').orderBy('id')),
    findByTarget: ({ store, target, namespace }) => first(rows().where({ store, target, namespace })),
    async add(base) {
      const now = clock.now();
      const row = toRow({ ...base, follows: [], state: 'active', createdAt: now, updatedAt: now });
      const added = await first(
        rows()
          .insert({ ...row, removes_target: 0 })
          .returning('*'),
      );
      if (added === null) throw new Error('The knowledge base was not stored.');
      return added;
    },
    async update(id, { name, chunkTokens, overlapTokens, follows }) {
      const changes = toRow({ name, chunkTokens, overlapTokens, follows, updatedAt: clock.now() });
      await rows().where({ id }).update(changes);
    },
    async markDeleting(id, removesTarget) {
      await database.transaction(async () => {
        await rows()
          .where({ id })
          .update({ state: 'deleting', removes_target: removesTarget ? 1 : 0, updated_at: clock.now() });
        await jobs.add(deleteBaseJob, { base: id }, { key: String(id) });
      });
    },
    async findEmptied(id) {
      const left = database
        .knex(tables.sources)
        .select(database.knex.raw('1'))
        .whereRaw('?? = ??', [`${tables.sources}.base_id`, `${tables.bases}.id`]);
      const row = (await rows().where({ id, state: 'deleting' }).whereNotExists(left).first()) as BaseRow | undefined;
      return row === undefined ? null : { ...fromRow(row), removesTarget: row.removes_target === 1 };
    },
    async remove(id) {
      await rows().where({ id }).delete();
    },
    async forget(id) {
      await database.transaction(async (transaction) => {
        const own = () => transaction(tables.sources).where({ base_id: id }).select('id');
        await transaction(tables.chunks).whereIn('source_id', own()).delete();
        await transaction(tables.contents).whereIn('source_id', own()).delete();
        await transaction(tables.sources).where({ base_id: id }).delete();
        await transaction(tables.bases).where({ id }).delete();
      });
    },
  };
}
