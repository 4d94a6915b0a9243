import type { Clock, DatabaseApi, HostApi, Knex } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import type { ImageParams } from '../../../kit/image-params.ts';
import '../hooks.ts';
import { imageTables } from '../image-tables.ts';
import type { ImageFilter, ImageMode, ImageOrigin, ImagePerson, ImageStore, NewImage, StoredImage } from './image.ts';

export interface ImageStoreParts {
  readonly database: Pick<DatabaseApi, 'knex' | 'transaction'>;
  readonly clock: Pick<Clock, 'now'>;
}

type Query = Knex.QueryBuilder<ImageRow, ImageRow[]>;

export function createImageStore({ database, clock }: ImageStoreParts): ImageStore {
  const table = (): Query => database.knex<ImageRow>(imageTables.images) as Query;
  const stored = (): Query => table().where({ status: 'stored' });
  const read = async (query: Knex.QueryBuilder): Promise<ReturnType<typeof imageOf>[]> =>
    ((await query) as ImageRow[]).map(imageOf);
  const first = async (query: Query) => (await read(query.limit(1)))[0] ?? null;

  /** Versions of a deleted image lose their parent, in the same transaction. */
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
      const rows = images.map((one) => rowOf(one, { createdAt: clock.now(), status: pending ? 'pending' : 'stored' }));
      await table().insert(rows);
      return read(table().where({ request: image.request }).orderBy('position'));
    },
    get: (id) => first(stored().where({ id })),
    ofMedia: (mediaId) => first(stored().where({ media_id: mediaId })),
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
    async count(filter) {
      const [row] = (await filtered(stored(), filter).count({ total: '*' })) as { total?: number | string }[];
      return Number(row?.total ?? 0);
    },
    versions: (id) => read(stored().where({ parent_id: id }).orderBy('id')),
    async models() {
      const rows = (await stored()
        .distinct('provider_id', 'model')
        .orderBy([{ column: 'provider_id' }, { column: 'model' }])
        .limit(200)) as Pick<ImageRow, 'provider_id' | 'model'>[];
      return rows.map(({ provider_id, model }) => ({ providerId: provider_id, model }));
    },
    remove: (id) => removeBy({ id }),
    removeMedia: (mediaId) => removeBy({ media_id: mediaId }),
    pending: (request) => read(table().where({ status: 'pending', request }).orderBy('position')),
    async commit(request, transaction) {
      await table().where({ status: 'pending', request }).update({ status: 'stored' }).transacting(transaction);
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
  if (part !== '') void query.whereRaw("search_text like ? escape '!'", [`%${part.replace(/[!%_]/g, '!$&')}%`]);
  return query;
}

function whose(person: ImagePerson): Readonly<Record<string, number | string>> {
  return 'userId' in person ? { user_id: person.userId } : { session_id: person.sessionId };
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

/** PostgreSQL returns large numbers as text. */
type Large = number | string;

interface ImageRow {
  readonly id: number;
  readonly request: string;
  readonly position: number;
  readonly status: 'stored' | 'pending';
  readonly media_id: number;
  readonly mode: ImageMode;
  readonly parent_id: number | null;
  readonly source_media_id: number | null;
  readonly origin: ImageOrigin;
  readonly prompt: string;
  readonly revised_prompt: string | null;
  readonly provider_id: string;
  readonly provider: string;
  readonly model: string;
  readonly params: string;
  readonly url: string;
  readonly mime_type: string;
  readonly bytes: Large;
  readonly cost: Large | null;
  readonly usage: string | null;
  readonly user_id: Large;
  readonly session_id: string | null;
  readonly search_text: string;
  readonly created_at: Large;
}

function rowOf(
  image: NewImage,
  { createdAt, status }: { readonly createdAt: number; readonly status: ImageRow['status'] },
): Omit<ImageRow, 'id'> {
  return {
    request: image.request,
    position: image.position,
    status,
    media_id: image.mediaId,
    mode: image.mode,
    parent_id: image.parentId,
    source_media_id: image.sourceMediaId,
    origin: image.origin,
    prompt: image.prompt,
    revised_prompt: image.revisedPrompt,
    provider_id: image.providerId,
    provider: image.provider,
    model: image.model,
    params: JSON.stringify(image.asked),
    url: image.url,
    mime_type: image.mimeType,
    bytes: image.bytes,
    cost: image.cost,
    usage: image.usage === null ? null : JSON.stringify(image.usage),
    user_id: image.userId,
    session_id: image.sessionId,
    search_text: foldText(image.prompt),
    created_at: createdAt,
  };
}

function imageOf(row: ImageRow): StoredImage {
  return {
    id: row.id,
    request: row.request,
    position: row.position,
    ['place']: row.position,
    mediaId: row.media_id,
    mode: row.mode,
    parentId: row.parent_id,
    sourceMediaId: row.source_media_id,
    origin: row.origin,
    prompt: row.prompt,
    revisedPrompt: row.revised_prompt,
    providerId: row.provider_id,
    provider: row.provider,
    model: row.model,
    asked: JSON.parse(row.params) as ImageParams,
    url: row.url,
    mimeType: row.mime_type,
    bytes: Number(row.bytes),
    cost: row.cost === null ? null : Number(row.cost),
    usage: row.usage === null ? null : (JSON.parse(row.usage) as Readonly<Record<string, unknown>>),
    userId: Number(row.user_id),
    sessionId: row.session_id,
    createdAt: Number(row.created_at),
  };
}
