import type { Clock, DatabaseApi, Knex } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import { imageTables } from '../image-tables.ts';
import { imageOf, rowOf, type ImageRow } from './image-rows.ts';
import type { ImageFilter, ImagePerson, ImageStore } from './image.ts';

export interface ImageStoreParts {
  readonly database: Pick<DatabaseApi, 'knex' | 'transaction'>;
  readonly clock: Pick<Clock, 'now'>;
}

type Query = Knex.QueryBuilder<ImageRow, ImageRow[]>;

export function createImageStore({ database, clock }: ImageStoreParts): ImageStore {
  const table = (): Query => database.knex<ImageRow>(imageTables.images) as Query;
  const kept = (): Query => table().where({ status: 'kept' });
  const read = async (query: Knex.QueryBuilder): Promise<ReturnType<typeof imageOf>[]> =>
    ((await query) as ImageRow[]).map(imageOf);
  const first = async (query: Query) => (await read(query.limit(1)))[0] ?? null;

  /** In a transaction: versions of an image that goes are left without a parent. */
  const removeBy = (key: Readonly<Record<string, number>>): Promise<boolean> =>
    database.transaction(async () => {
      const ids = ((await table().where(key).select('id')) as Pick<ImageRow, 'id'>[]).map(({ id }) => id);
      if (ids.length === 0) return false;
      await table().whereIn('parent_id', ids).update({ parent_id: null });
      return (await table().whereIn('id', ids).delete()) > 0;
    });

  return {
    async add(images, { pending }) {
      const [image] = images;
      if (image === undefined) return [];
      const rows = images.map((one) => rowOf(one, { createdAt: clock.now(), status: pending ? 'pending' : 'kept' }));
      await table().insert(rows);
      return read(table().where({ request: image.request }).orderBy('place'));
    },
    get: (id) => first(kept().where({ id })),
    ofMedia: (mediaId) => first(kept().where({ media_id: mediaId })),
    ofRequest: (request) => read(kept().where({ request }).orderBy('place')),
    async list(filter, { limit, before, after }) {
      const query = filtered(kept(), filter)
        .orderBy('id', after === undefined ? 'desc' : 'asc')
        .limit(limit);
      if (before !== undefined) void query.where('id', '<', before);
      if (after !== undefined) void query.where('id', '>', after);
      const images = await read(query);
      return after === undefined ? images : images.reverse();
    },
    async count(filter) {
      const [row] = (await filtered(kept(), filter).count({ total: '*' })) as { total?: number | string }[];
      return Number(row?.total ?? 0);
    },
    versions: (id) => read(kept().where({ parent_id: id }).orderBy('id')),
    async models() {
      const rows = (await kept()
        .distinct('provider_id', 'model')
        .orderBy([{ column: 'provider_id' }, { column: 'model' }])
        .limit(200)) as Pick<ImageRow, 'provider_id' | 'model'>[];
      return rows.map(({ provider_id, model }) => ({ providerId: provider_id, model }));
    },
    remove: (id) => removeBy({ id }),
    removeMedia: (mediaId) => removeBy({ media_id: mediaId }),
    pending: (request) => read(table().where({ status: 'pending', request }).orderBy('place')),
    async keep(request, transaction) {
      await table().where({ status: 'pending', request }).update({ status: 'kept' }).transacting(transaction);
    },
    stale: (before, limit) =>
      read(table().where({ status: 'pending' }).where('created_at', '<', before).orderBy('id').limit(limit)),
    of: (person) => read(table().where(whose(person)).orderBy('id')),
  };
}

function filtered(query: Query, { search, origin, mode, providerId, model, userId, sessionId }: ImageFilter): Query {
  const values = { origin, mode, provider_id: providerId, model, user_id: userId, session_id: sessionId };
  for (const [name, value] of Object.entries(values)) if (value !== undefined) void query.where(name, value);
  const part = foldText(search ?? '').trim();
  if (part !== '') void query.whereRaw("found_by like ? escape '!'", [`%${part.replace(/[!%_]/g, '!$&')}%`]);
  return query;
}

function whose(person: ImagePerson): Readonly<Record<string, number | string>> {
  return 'userId' in person ? { user_id: person.userId } : { session_id: person.sessionId };
}
