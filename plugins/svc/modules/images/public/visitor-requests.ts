import type { Clock, DatabaseApi } from '#plugin-api';
import type { Reserved } from '../../../kit/visitors/limit-counters.ts';
import { imageTables } from '../image-tables.ts';
import type { ImagePerson } from '../store/image.ts';

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

interface Row {
  readonly id: string;
  readonly state: VisitorRequest['state'];
  readonly user_id: number | string;
  readonly session_id: string;
  readonly prompt: string;
  readonly n: number;
  readonly reserved: string;
  readonly message: string;
  readonly created_at: number | string;
}

export function createVisitorRequests({
  database,
  clock,
}: {
  readonly database: Pick<DatabaseApi, 'knex'>;
  readonly clock: Pick<Clock, 'now'>;
}): VisitorRequests {
  const table = () => database.knex(imageTables.requests);
  const whose = (person: ImagePerson) =>
    'userId' in person ? { user_id: person.userId } : { session_id: person.sessionId };
  return {
    async get(id) {
      const row = (await table().where({ id }).first()) as Row | undefined;
      return row === undefined ? null : requestOf(row);
    },
    async add({ id, userId, sessionId, prompt, n, reserved }) {
      const row = {
        id,
        state: 'drawing',
        user_id: userId,
        session_id: sessionId,
        prompt,
        n,
        reserved: JSON.stringify(reserved),
        message: '',
        created_at: clock.now(),
      };
      return ((await table().insert(row).onConflict('id').ignore().returning('id')) as unknown[]).length > 0;
    },
    end: async (id, { state, message }) =>
      (await table().where({ id, state: 'drawing' }).update({ state, message })) > 0,
    async forget(before) {
      await table().where('created_at', '<', before).whereNot({ state: 'drawing' }).delete();
    },
    of: async (person) => ((await table().where(whose(person)).orderBy('created_at')) as Row[]).map(requestOf),
    eraseOf: async (person) => table().where(whose(person)).delete(),
  };
}

function requestOf(row: Row): VisitorRequest {
  return {
    id: row.id,
    state: row.state,
    userId: Number(row.user_id),
    sessionId: row.session_id,
    prompt: row.prompt,
    n: row.n,
    reserved: JSON.parse(row.reserved) as Reserved | null,
    message: row.message,
    createdAt: Number(row.created_at),
  };
}
