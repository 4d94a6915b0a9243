import type { HostApi } from '#plugin-api';
import type { RowPage } from '../../../kit/table-reads.ts';
import { contentTableNames } from '../content-tables.ts';
import type { ContentDraft, ContentInput } from '../write/draft.ts';
import { createBatchStore, type BatchStore } from './batch-store.ts';
import { draftColumns, toItem, shortTopic } from './item.ts';
import type { Item, ItemStatus } from './item.ts';

const day = 86_400_000;
/** Retention of batches that were never started, in days. */
const draftDays = 2;
/** Retention of everything else in days; posts are kept. */
export const retentionDays = 180;

/** Deletes batches that were never started and old texts. Several nodes may run it at once. */
export async function sweepRuns({ database, clock }: Pick<HostApi, 'database' | 'clock'>): Promise<void> {
  const { knex } = database;
  const { batches, items } = contentTableNames;
  const now = clock.now();
  const busy = knex(items).distinct('batch_id').whereIn('status', ['pending', 'processing']).whereNotNull('batch_id');
  await database.transaction(async () => {
    const old = (await knex(batches)
      .select('id')
      .where({ status: 'draft' })
      .where('updated_at', '<', now - draftDays * day)
      .union([
        knex(batches)
          .select('id')
          .where('updated_at', '<', now - retentionDays * day)
          .whereNotIn('id', busy),
      ])) as { readonly id: number }[];
    const ids = old.map(({ id }) => id);
    if (ids.length > 0) {
      await knex(items).whereIn('batch_id', ids).delete();
      await knex(batches).whereIn('id', ids).delete();
    }
    await knex(items)
      .whereNull('batch_id')
      .where('updated_at', '<', now - retentionDays * day)
      .delete();
  });
}

export interface NewItem {
  readonly uuid: string;
  readonly userId: number;
  readonly input: ContentInput;
  readonly status: 'completed' | 'cancelled' | 'failed';
  readonly message: string;
  readonly draft: ContentDraft;
  readonly postId: number | null;
}

/** Stores single texts: streamed, or written by a command. */
export interface TextStore {
  /** Adds a single text. False if the uuid exists. */
  add(item: NewItem): Promise<boolean>;
  item(uuid: string): Promise<Item | null>;
  /** Reserves the text for its post, in the running transaction. False if it already has a post. */
  claimForPost(uuid: string, userId: number): Promise<boolean>;
  change(
    uuid: string,
    changes: {
      readonly draft?: ContentDraft;
      readonly postId?: number;
      readonly status?: ItemStatus;
      readonly message?: string;
    },
  ): Promise<void>;
  /** Deletes the text. Its post is kept. */
  remove(uuid: string): Promise<void>;
  /** Single texts, newest first. */
  listTexts(query: RowPage & { readonly userId: number | null }): Promise<readonly Item[]>;
  countTexts(userId: number | null): Promise<number>;
}

/** Stores batches and single texts. */
export type RunStore = BatchStore & TextStore;

export function createRunStore(host: Pick<HostApi, 'database' | 'clock' | 'jobs'>): RunStore {
  return { ...createBatchStore(host), ...createTextStore(host) };
}

function createTextStore({ database: { knex }, clock }: Pick<HostApi, 'database' | 'clock'>): TextStore {
  const items = () => knex(contentTableNames.items);
  const texts = (userId: number | null) =>
    items()
      .whereNull('batch_id')
      .where(userId === null ? {} : { user_id: userId });
  const stamp = () => ({ updated_at: clock.now() });

  return {
    async add({ uuid, userId, input, status, message, draft, postId }) {
      const now = clock.now();
      const inserted = (await items()
        .insert({
          uuid,
          batch_id: null,
          user_id: userId,
          position: 0,
          topic: shortTopic(input.topic || input.source_url),
          input: JSON.stringify(input),
          status,
          message,
          post_id: postId,
          attempts: 1,
          ...draftColumns(draft),
          created_at: now,
          updated_at: now,
        })
        .onConflict('uuid')
        .ignore()
        .returning('id')) as unknown[];
      return inserted.length > 0;
    },
    async item(uuid) {
      const row = (await items().where({ uuid }).first()) as object | undefined;
      return row === undefined ? null : toItem(row);
    },
    async claimForPost(uuid, userId) {
      // The row lock serializes concurrent requests; the second finds a post id.
      return (
        (await items()
          .where({ uuid, user_id: userId })
          .whereNull('post_id')
          .update({ post_id: -1, ...stamp() })) > 0
      );
    },
    async change(uuid, { draft, postId, ...changes }) {
      await items()
        .where({ uuid })
        .update({
          ...changes,
          ...(draft && draftColumns(draft)),
          ...(postId !== undefined && { post_id: postId }),
          ...stamp(),
        });
    },
    async remove(uuid) {
      await items().where({ uuid }).delete();
    },
    listTexts: async ({ userId, limit, offset }) =>
      ((await texts(userId).orderBy('id', 'desc').limit(limit).offset(offset)) as object[]).map(toItem),
    countTexts: async (userId) =>
      Number(((await texts(userId).count('* as count')) as { readonly count: number | string }[])[0]?.count ?? 0),
  };
}
