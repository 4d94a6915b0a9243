import { createRowMapper, type Clock, type DatabaseApi, type HostApi, type Knex } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import type { ImageParams } from '../../../kit/image-params.ts';
import '../hooks.ts';
import { imageTables } from '../image-tables.ts';
import type { ImageFilter, ImageStore, NewImage, StoredImage } from './image.ts';
import { columnsOf, countRows, searchIn } from '../../../kit/table-reads.ts';

export interface ImageStoreParts {
  readonly database: Pick<DatabaseApi, 'knex' | 'transaction'>;
  readonly clock: Pick<Clock, 'now'>;
}

export function createImageStore({ database, clock }: ImageStoreParts): ImageStore {
  const table = (): Knex.QueryBuilder => database.knex(imageTables.images);
  const stored = (): Knex.QueryBuilder => table().where({ status: 'stored' });
  const read = async (query: Knex.QueryBuilder) => ((await query) as object[]).map(imageOf);
  const first = async (query: Knex.QueryBuilder) => (await read(query.limit(1)))[0] ?? null;

  /** Versions of a deleted image lose their parent, in the same transaction. */
  const removeBy = (key: Readonly<Record<string, number>>): Promise<boolean> =>
    database.transaction(async () => {
      const ids = ((await table().where(key).select('id')) as { readonly id: number }[]).map(({ id }) => id);
      if (ids.length === 0) return false;
      await table().whereIn('parent_id', ids).update({ parent_id: null });
      return (await table().whereIn('id', ids).delete()) > 0;
    });

  return {
    async add(images, { pending }) {
      const [image] = images;
      if (image === undefined) return [];
      const rows = images.map((one) => rowOf(one, { createdAt: clock.now(), status: pending ? 'pending' : 'stored' }));
      await table().insert(rows);
      return read(table().where({ request: image.request }).orderBy('position'));
    },
    get: (id) => first(stored().where({ id })),
    ofRequest: (request) => read(stored().where({ request }).orderBy('position')),
    async list(filter, { limit, before, after }) {
      const query = filtered(stored(), filter)
        .orderBy('id', after === undefined ? 'desc' : 'asc')
        .limit(limit);
      if (before !== undefined) void query.where('id', '<', before);
      if (after !== undefined) void query.where('id', '>', after);
      const images = await read(query);
      return after === undefined ? images : images.reverse();
    },
    count: (filter) => countRows(filtered(stored(), filter)),
    versions: (id) => read(stored().where({ parent_id: id }).orderBy('id')),
    async models() {
      const rows = (await stored()
        .distinct('provider_id', 'model')
        .orderBy([{ column: 'provider_id' }, { column: 'model' }])
        .limit(200)) as object[];
      return rows.map(fromRow);
    },
    remove: (id) => removeBy({ id }),
    removeMedia: (mediaId) => removeBy({ media_id: mediaId }),
    pending: (request) => read(table().where({ status: 'pending', request }).orderBy('position')),
    async commit(request, transaction) {
      await table().where({ status: 'pending', request }).update({ status: 'stored' }).transacting(transaction);
    },
    stale: (before, limit) =>
      read(table().where({ status: 'pending' }).where('created_at', '<', before).orderBy('id').limit(limit)),
    of: (person) => read(table().where(columnsOf(person)).orderBy('id')),
  };
}

function filtered(
  query: Knex.QueryBuilder,
  { search, origin, mode, providerId, model, userId, sessionId }: ImageFilter,
): Knex.QueryBuilder {
  const values = { origin, mode, provider_id: providerId, model, user_id: userId, session_id: sessionId };
  for (const [name, value] of Object.entries(values)) if (value !== undefined) void query.where(name, value);
  searchIn(query, 'search_text', search);
  return query;
}

/** Deletes an image and its file from the history and the media library. Its versions stay. */
export type DeleteImage = (image: StoredImage) => Promise<void>;

export function createDeleteImage({
  host,
  store,
}: {
  readonly host: Pick<HostApi, 'content' | 'hooks'>;
  readonly store: ImageStore;
}): DeleteImage {
  return async (image) => {
    // Deleting the media deletes the row too, but the media may be missing already.
    await host.content.media.delete(image.mediaId);
    await store.remove(image.id);
    await host.hooks.doActionAsync('svc_image_deleted', image);
  };
}

const { fromRow, toRow } = createRowMapper<
  Omit<StoredImage, 'asked' | 'place'> & Pick<ImageTable, 'params' | 'status'>
>({ json: ['params', 'usage'], others: ['search_text', 'is_public'] });

interface ImageTable {
  readonly params: ImageParams;
  readonly status: 'stored' | 'pending';
}

function rowOf(
  { asked, ...image }: NewImage,
  more: { readonly createdAt: number; readonly status: ImageTable['status'] },
) {
  return { ...toRow({ ...image, ...more, params: asked }), search_text: foldText(image.prompt) };
}

function imageOf(row: object): StoredImage {
  const { params, status: _status, ...image } = fromRow(row);
  return { ...image, ['place']: image.position, asked: params };
}
