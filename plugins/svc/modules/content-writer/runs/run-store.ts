import type { HostApi } from '#plugin-api';
import { contentTableNames } from '../content-tables.ts';
import type { ContentDraft, ContentInput } from '../write/draft.ts';
import { createBatchStore, type BatchStore } from './batch-store.ts';
import { draftColumns, itemOf, shortTopic, type ItemRow } from './item-rows.ts';
import type { Item, ItemStatus } from './item.ts';

export interface NewItem {
  readonly uuid: string;
  readonly userId: number;
  readonly input: ContentInput;
  readonly status: 'completed' | 'cancelled' | 'failed';
  readonly message: string;
  readonly draft: ContentDraft;
  readonly postId: number | null;
}

/** Texts that are not of a batch: streamed, or asked for by a command. */
export interface TextStore {
  /** Adds a text that is not of a batch. False: there is one of this uuid. */
  add(item: NewItem): Promise<boolean>;
  item(uuid: string): Promise<Item | null>;
  /** In a transaction: takes an item for one post, once. False: it has one already. */
  takeForPost(uuid: string, userId: number): Promise<boolean>;
  change(
    uuid: string,
    changes: {
      readonly draft?: ContentDraft;
      readonly postId?: number;
      readonly status?: ItemStatus;
      readonly message?: string;
    },
  ): Promise<void>;
  /** Posts stay. */
  remove(uuid: string): Promise<void>;
  /** Texts that are not of a batch, newest first. */
  alone(query: {
    readonly userId: number | null;
    readonly limit: number;
    readonly offset: number;
  }): Promise<readonly Item[]>;
  countAlone(userId: number | null): Promise<number>;
}

/** Batches and texts, whoever works on them. */
export type RunStore = BatchStore & TextStore;

export function createRunStore(host: Pick<HostApi, 'database' | 'clock'>): RunStore {
  return { ...createBatchStore(host), ...createTextStore(host) };
}

function createTextStore({ database: { knex }, clock }: Pick<HostApi, 'database' | 'clock'>): TextStore {
  const items = () => knex(contentTableNames.items);
  const alone = (userId: number | null) =>
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
      const row = (await items().where({ uuid }).first()) as ItemRow | undefined;
      return row === undefined ? null : itemOf(row);
    },
    async takeForPost(uuid, userId) {
      // Two at once wait for each other here; the second finds it taken.
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
    alone: async ({ userId, limit, offset }) =>
      ((await alone(userId).orderBy('id', 'desc').limit(limit).offset(offset)) as ItemRow[]).map(itemOf),
    countAlone: async (userId) =>
      Number(((await alone(userId).count('* as count')) as { readonly count: number | string }[])[0]?.count ?? 0),
  };
}
