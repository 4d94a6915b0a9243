import type { HostApi } from '#plugin-api';
import { deleteBaseJob, tables } from '../tables.ts';

/** A knowledge base: where its passages are stored, and how they are split and embedded. */
export interface KnowledgeBase {
  /** 1 or more, never reused. */
  readonly id: number;
  readonly name: string;
  /** Id of a vector store. */
  readonly store: string;
  /** Name of its index or collection, which no other base uses. */
  readonly target: string;
  /** Pinecone only. */
  readonly namespace: string;
  readonly embeddingProvider: string;
  readonly embeddingModel: string;
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

interface Row {
  readonly id: number;
  readonly name: string;
  readonly store: string;
  readonly target: string;
  readonly namespace: string;
  readonly embedding_provider: string;
  readonly embedding_model: string;
  readonly chunk_tokens: number;
  readonly overlap_tokens: number;
  readonly follows: string;
  readonly state: KnowledgeBase['state'];
  readonly removes_target: number;
  readonly created_at: number | string;
  readonly updated_at: number | string;
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
  const rows = () => database.knex<Row>(tables.bases);
  const one = async (query: PromiseLike<unknown>): Promise<KnowledgeBase | null> => {
    const row = (await query) as Row | undefined;
    return row === undefined ? null : toBase(row);
  };
  return {
    get: (id) => one(rows().where({ id }).first()),
    list: async () => ((await rows().orderBy('name').orderBy('id')) as Row[]).map(toBase),
    findByTarget: ({ store, target, namespace }) => one(rows().where({ store, target, namespace }).first()),
    async add(base) {
      const now = clock.now();
      const [row] = (await rows()
        .insert({
          name: base.name,
          store: base.store,
          target: base.target,
          namespace: base.namespace,
          embedding_provider: base.embeddingProvider,
          embedding_model: base.embeddingModel,
          chunk_tokens: base.chunkTokens,
          overlap_tokens: base.overlapTokens,
          follows: '[]',
          state: 'active',
          removes_target: 0,
          created_at: now,
          updated_at: now,
        })
        .returning('*')) as Row[];
      if (row === undefined) throw new Error('The knowledge base was not stored.');
      return toBase(row);
    },
    async update(id, { name, chunkTokens, overlapTokens, follows }) {
      await rows()
        .where({ id })
        .update({
          ...(name !== undefined && { name }),
          ...(chunkTokens !== undefined && { chunk_tokens: chunkTokens }),
          ...(overlapTokens !== undefined && { overlap_tokens: overlapTokens }),
          ...(follows !== undefined && { follows: JSON.stringify(follows) }),
          updated_at: clock.now(),
        });
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
      const row = (await rows().where({ id, state: 'deleting' }).whereNotExists(left).first()) as Row | undefined;
      return row === undefined ? null : { ...toBase(row), removesTarget: row.removes_target === 1 };
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

function toBase(row: Row): KnowledgeBase {
  return {
    id: row.id,
    name: row.name,
    store: row.store,
    target: row.target,
    namespace: row.namespace,
    embeddingProvider: row.embedding_provider,
    embeddingModel: row.embedding_model,
    chunkTokens: row.chunk_tokens,
    overlapTokens: row.overlap_tokens,
    follows: JSON.parse(row.follows) as string[],
    state: row.state,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}
