import type { Clock, CommentStatus, CronApi, NewPost, Post, PostInput, PostWrite } from '#plugin-api';
import type { Database } from '../../database/database-contract.ts';
import { contentErrors, invalidParent } from '../errors.ts';
import type { Meta } from '../meta/meta.ts';
import type { Terms } from '../taxonomies/terms.ts';
import type { PostStatuses } from '../types/post-statuses.ts';
import type { PostTypes } from '../types/post-types.ts';
import type { Sanitizer } from '../html/sanitizer.ts';
import { composePost } from './compose.ts';
import { announceSaved, type PostHooks } from './post-hooks.ts';
import type { PostData } from './post-row.ts';
import type { PostStore } from './post-store.ts';
import type { RevisionWriter } from './revisions.ts';
import { needsUniqueSlug, slugKeyFor, uniqueSlug } from './slugs.ts';

export interface PostWriterDependencies {
  readonly database: Pick<Database, 'transaction' | 'lock'>;
  readonly store: PostStore;
  readonly types: PostTypes;
  readonly statuses: PostStatuses;
  readonly hooks: PostHooks;
  readonly clock: Pick<Clock, 'now'>;
  readonly cron: Pick<CronApi, 'scheduleSingle' | 'unschedule'>;
  readonly meta: Pick<Meta, 'check' | 'write'>;
  readonly terms: Pick<Terms, 'writePost'>;
  readonly revisions: RevisionWriter;
  readonly sanitizer: Sanitizer;
  /** Of new posts whose type supports comments. */
  readonly defaultCommentStatus: () => Promise<CommentStatus>;
}

export interface PostWriter {
  create(input: NewPost & { readonly mimeType?: string }, write?: PostWrite): Promise<Post>;
  update(id: number, changes: PostInput, write?: PostUpdate): Promise<Post>;
}

export interface PostUpdate extends PostWrite {
  /** Throws when the stored version must not be replaced. No other writer comes between it and the write. */
  readonly expect?: (stored: Post) => void;
}

/** Name of the cron event that publishes a scheduled post. Its argument is the post id. */
export const publishEvent = 'publish_future_post';

/**
 * Creates and updates posts: runs filters, writes everything in one transaction, then runs actions. A lock prevents two
 * nodes from choosing the same slug.
 */
export function createPostWriter(given: PostWriterDependencies): PostWriter {
  const { store, hooks, clock } = given;

  async function save({
    before,
    input,
    as,
    mimeType,
    expect,
  }: { before: Post | null; input: PostInput; mimeType?: string } & PostUpdate): Promise<Post> {
    const commentStatus = await newCommentStatus(input);
    const composed = {
      ...(await composePost({ before, input, as, now: clock.now(), commentStatus, sanitizer: given.sanitizer })),
      ...(mimeType !== undefined && { mimeType }),
    };
    await check(given, composed, before);
    const data = await filterData(hooks, { data: composed, input, isUpdate: before !== null });
    const values = await given.meta.check(data.type, input.meta ?? {});
    if (before !== null) await hooks.doActionAsync('pre_post_update', before.id, data);
    const { post, announceTerms, announceRevisions } = await given.database.transaction(async () => {
      if (before !== null && expect) expect(await lockStored(store, before.id));
      const written = await write(given, data, before);
      await given.meta.write(written.id, written.type, values);
      const announceTerms = await given.terms.writePost(written, input.terms ?? {});
      await schedule(given, written, before);
      const type = given.types.get(written.type);
      const announce =
        before !== null && type !== undefined
          ? await given.revisions.write({ before, after: written, type, author: as?.id ?? 0 })
          : null;
      return { post: written, announceTerms, announceRevisions: announce };
    });
    await announceTerms?.();
    await announceSaved(hooks, post, before);
    await announceRevisions?.();
    // A callback may have changed the post.
    return (await store.get(post.id)) ?? post;
  }

  async function newCommentStatus({ type = 'post' }: NewPost): Promise<CommentStatus> {
    const isSupported = given.types.get(type)?.supports.includes('comments') === true;
    return isSupported ? given.defaultCommentStatus() : 'closed';
  }

  return {
    create: ({ mimeType, ...input }, { as } = {}) =>
      save({ before: null, input, ...(as && { as }), ...(mimeType !== undefined && { mimeType }) }),
    async update(id, changes, { as, expect } = {}) {
      const before = await store.get(id);
      if (before === null) throw contentErrors.rest_post_invalid_id();
      return save({ before, input: changes, ...(as && { as }), ...(expect && { expect }) });
    },
  };
}

async function lockStored(store: PostStore, id: number): Promise<Post> {
  const stored = await store.getLocked(id);
  if (stored === null) throw contentErrors.rest_post_invalid_id();
  return stored;
}

/** @throws RestError 400 for an unknown type or status, missing text or an invalid parent. */
async function check(
  { types, statuses, hooks, store }: PostWriterDependencies,
  post: PostData,
  before: Post | null,
): Promise<void> {
  const type = types.get(post.type);
  if (type === undefined) throw contentErrors.invalid_post_type({ values: { type: post.type } });
  if (statuses.get(post.status) === undefined)
    throw contentErrors.invalid_post_status({ values: { status: post.status } });
  const isEmpty =
    post.title === '' &&
    post.content === '' &&
    post.excerpt === '' &&
    type.supports.includes('title') &&
    type.supports.includes('editor');
  const refuses = await hooks.applyFiltersAsync(
    'wp_insert_post_empty_content',
    isEmpty && post.status !== 'auto-draft' && post.status !== 'trash',
    { ...post },
  );
  if (refuses) throw contentErrors.empty_content();
  if (post.parentId !== 0 && post.parentId !== before?.parentId)
    await checkParent(store, post.parentId, before?.id ?? 0);
}

/** @throws RestError 400 if the parent does not exist or is the post itself or one of its descendants. */
async function checkParent(store: PostStore, parentId: number, id: number): Promise<void> {
  const seen = new Set([id]);
  for (let next = parentId; next !== 0;) {
    if (seen.has(next)) throw invalidParent();
    seen.add(next);
    const parent = await store.get(next);
    if (parent === null || parent.type === 'revision') throw invalidParent();
    next = parent.parentId;
  }
}

async function filterData(
  hooks: PostHooks,
  { data, input, isUpdate }: { data: PostData; input: PostInput; isUpdate: boolean },
): Promise<PostData> {
  const filter = data.type === 'attachment' ? 'wp_insert_attachment_data' : 'wp_insert_post_data';
  return hooks.applyFiltersAsync(filter, data, { ...data, ...input }, { ...input }, isUpdate);
}

async function write(
  { database, store, types, hooks }: PostWriterDependencies,
  data: PostData,
  before: Post | null,
): Promise<Post> {
  const type = types.get(data.type);
  if (type === undefined) throw contentErrors.invalid_post_type({ values: { type: data.type } });
  const id = before?.id ?? 0;
  const isSlugUnchanged =
    before !== null && before.slug === data.slug && before.parentId === data.parentId && needsUniqueSlug(before);
  if (needsUniqueSlug(data)) await database.lock('content_slugs');
  const slug = isSlugUnchanged ? data.slug : await uniqueSlug({ post: { ...data, id }, type, store, hooks });
  const named = { ...data, slug };
  const written =
    before === null
      ? await store.insert(named, slugKeyFor(named, type))
      : await store.update(id, named, slugKeyFor(named, type));
  if (written.slug !== '' || !needsUniqueSlug({ ...written, slug: '-' })) return written;
  // Without a title the id becomes the slug.
  const numbered = {
    ...named,
    slug: await uniqueSlug({ post: { ...written, slug: String(written.id) }, type, store, hooks }),
  };
  return store.update(written.id, numbered, slugKeyFor(numbered, type));
}

/** Keeps exactly one cron event for a scheduled post and none for others. */
async function schedule({ cron }: PostWriterDependencies, post: Post, before: Post | null): Promise<void> {
  const waits = post.status === 'future';
  if (waits && before?.status === 'future' && before.date === post.date) return;
  if (before?.status === 'future') await cron.unschedule(publishEvent, [post.id]);
  if (waits) await cron.scheduleSingle(post.date, publishEvent, [post.id]);
}
