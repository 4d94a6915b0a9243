import type { Knex } from '#plugin-api';
import type { RowPage } from '../table-reads.ts';

/** What its readers did with a submission: opened it, or put it away. */
export const readStates = ['new', 'read', 'archived'] as const;
export type ReadState = (typeof readStates)[number];

/** What every list of submissions filters by. */
export interface ReadFilter {
  readonly readState?: ReadState | undefined;
  /** Part of a text of the submission. Case and accents do not matter; `%` and `_` are literal. */
  readonly search?: string | undefined;
}

export interface ReadStates<Filter extends ReadFilter> {
  /** Numbers of matching submissions by state. States without any are left out. */
  countByReadState(filter: Filter): Promise<ReadonlyMap<ReadState, number>>;
  /** Numbers of new submissions by the owner of the form. Owners without any are left out. */
  countNew(): Promise<ReadonlyMap<number, number>>;
  /** Changes the state of submissions. Returns the number of those that exist. */
  mark(ids: readonly string[], readState: ReadState): Promise<number>;
  /** Returns the number of deleted submissions. */
  delete(ids: readonly string[]): Promise<number>;
}

/** A store of submissions, as its pages and its command use it. */
export interface SubmissionReads<Submission, Filter extends ReadFilter> extends ReadStates<Filter> {
  find(id: string): Promise<Submission | null>;
  /** Newest first. */
  list(filter: Filter, page: RowPage): Promise<readonly Submission[]>;
  /** All that match, newest first, read in batches. */
  all(filter: Filter): AsyncIterable<Submission>;
}

/** The states of submissions in a table with the columns `uuid` and `read_state`. Every call joins a running transaction. */
export function createReadStates<Filter extends ReadFilter>({
  table,
  filtered,
  owner,
}: {
  readonly table: () => Knex.QueryBuilder;
  readonly filtered: (query: Knex.QueryBuilder, filter: Omit<Filter, 'readState'>) => Knex.QueryBuilder;
  /** The column with the id of the form or the chatbot. */
  readonly owner: string;
}): ReadStates<Filter> {
  const counts = async <Key>(query: Knex.QueryBuilder, column: string): Promise<ReadonlyMap<Key, number>> => {
    const rows = (await query.groupBy(column).select({ key: column }).count({ total: '*' })) as readonly {
      readonly key: Key;
      readonly total: number | string;
    }[];
    return new Map(rows.map(({ key, total }) => [key, Number(total)]));
  };
  return {
    countByReadState: ({ readState: _all, ...filter }) => counts<ReadState>(filtered(table(), filter), 'read_state'),
    async countNew() {
      const found = await counts<number | string>(table().where({ read_state: 'new' satisfies ReadState }), owner);
      return new Map([...found].map(([id, count]) => [Number(id), count]));
    },
    mark: (ids, readState) => table().whereIn('uuid', ids).update({ read_state: readState }),
    delete: (ids) => table().whereIn('uuid', ids).delete(),
  };
}
