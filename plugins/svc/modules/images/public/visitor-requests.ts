import { createRowMapper, type Clock, type DatabaseApi } from '#plugin-api';
import type { Reserved } from '../../../kit/visitors/limit-counters.ts';
import { imageTables } from '../image-tables.ts';
import type { ImagePerson } from '../store/image.ts';
import { columnsOf } from '../../../kit/table-reads.ts';

export interface VisitorRequest {
  /** UUID. */
  readonly id: string;
  readonly state: 'drawing' | 'done' | 'failed';
  readonly userId: number;
  readonly sessionId: string;
  readonly prompt: string;
  readonly n: number;
  /** Null: there was no limit. */
  readonly reserved: Reserved | null;
  /** Message for the visitor. */
  readonly message: string;
  readonly createdAt: number;
}

export interface VisitorRequests {
  get(id: string): Promise<VisitorRequest | null>;
  /** False: the id exists. */
  add(request: Omit<VisitorRequest, 'state' | 'message' | 'createdAt'>): Promise<boolean>;
  /** Ends a running request. False: another caller ended it, and settles its reservation. */
  end(id: string, end: Pick<VisitorRequest, 'message'> & { readonly state: 'done' | 'failed' }): Promise<boolean>;
  /** Deletes ended requests from before a time. */
  forget(before: number): Promise<void>;
  of(person: ImagePerson): Promise<VisitorRequest[]>;
  eraseOf(person: ImagePerson): Promise<number>;
}

const { toRow, first, all } = createRowMapper<VisitorRequest>({ json: ['reserved'] });

export function createVisitorRequests({
  database,
  clock,
}: {
  readonly database: Pick<DatabaseApi, 'knex'>;
  readonly clock: Pick<Clock, 'now'>;
}): VisitorRequests {
  const table = () => database.knex(imageTables.requests);
  return {
    get: (id) => first(table().where({ id })),
    async add({ id, userId, sessionId, prompt, n, reserved }) {
      const request = {
        id,
        userId,
        sessionId,
        prompt,
        n,
        state: 'drawing',
        message: '',
        createdAt: clock.now(),
      } as const;
      const row = { ...toRow(request), reserved: JSON.stringify(reserved) };
      return ((await table().insert(row).onConflict('id').ignore().returning('id')) as unknown[]).length > 0;
    },
    end: async (id, { state, message }) =>
      (await table().where({ id, state: 'drawing' }).update({ state, message })) > 0,
    async forget(before) {
      await table().where('created_at', '<', before).whereNot({ state: 'drawing' }).delete();
    },
    of: (person) => all(table().where(columnsOf(person)).orderBy('created_at')),
    eraseOf: async (person) => table().where(columnsOf(person)).delete(),
  };
}
