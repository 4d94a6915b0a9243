import type { DatabaseApi, HostApi } from '#plugin-api';
import { imageTables } from '../image-tables.ts';

const batch = 100;

interface PublicImage {
  readonly id: number;
  readonly media_id: number;
}

/** Images of visitors that an earlier version stored as public media. */
export interface PrivateImages {
  /** Whether any are left. */
  isNeeded(): Promise<boolean>;
  /**
   * Makes them private, file by file. An interrupted run is continued by the next one; run it on one node at a time.
   *
   * @returns the number of images that became private.
   */
  run(): Promise<number>;
}

export function createPrivateImages({
  database,
  content,
}: {
  readonly database: Pick<DatabaseApi, 'knex'>;
  readonly content: Pick<HostApi['content'], 'media'>;
}): PrivateImages {
  const table = () => database.knex(imageTables.images);
  const next = async (limit: number): Promise<PublicImage[]> =>
    (await table().where({ is_public: 1 }).orderBy('id').limit(limit).select('id', 'media_id')) as PublicImage[];

  return {
    isNeeded: async () => (await next(1)).length > 0,
    async run() {
      let count = 0;
      for (let images = await next(batch); images.length > 0; images = await next(batch)) {
        for (const { id, media_id } of images) {
          const media = await content.media.makePrivate(media_id);
          await table()
            .where({ id })
            .update({ is_public: 0, ...(media !== null && { url: media.url }) });
          count += 1;
        }
      }
      return count;
    },
  };
}
