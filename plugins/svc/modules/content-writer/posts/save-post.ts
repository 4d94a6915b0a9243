import { Buffer } from 'node:buffer';
import { RestError, type HostApi, type NewPost, type Post, type User } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import { invalidFields } from '../../../kit/field-errors.ts';
import type { ContentGeneration } from '../hooks.ts';
import type { ContentDraft } from '../write/draft.ts';
import { markdownToHtml, findPreservedMarkup } from '../../../kit/markdown-html.ts';
import { metaKeys } from './post-meta.ts';
import { postErrors, type PostSettings } from './post-settings.ts';

export interface SavePostInit {
  readonly draft: ContentDraft;
  readonly generation: ContentGeneration;
  readonly settings: PostSettings;
  /** Place in a batch, from 0: later ones are published later. */
  readonly position: number;
  /** Whose rights count; null: a command. */
  readonly user: User | null;
}

/** A post that only needs to be written: everything that takes time is done. */
export interface PreparedPost {
  readonly post: NewPost;
  /** HTML of the text. */
  readonly html: string;
  /** In a transaction: keeps the image, makes the post, and tells `svc_content_saved`. */
  readonly write: () => Promise<Post>;
}

type Host = Pick<HostApi, 'content' | 'users' | 'hooks'>;

/**
 * A new post of a draft.
 *
 * @throws RestError 400 `rest_invalid_param` when settings are wrong, or not allowed to the user by now
 */
export async function preparePost(host: Host, init: SavePostInit): Promise<PreparedPost> {
  const { draft, generation, settings, user } = init;
  const errors = await postErrors(host, settings, user);
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  const html = await markdownToHtml(draft.content ?? '');
  const post = await host.hooks.applyFiltersAsync('svc_content_post', newPost(init, html), draft, generation);
  return { post, html, write: () => writePost(host, { ...init, post, update: null }) };
}

function newPost({ draft, generation: { input }, settings, position, user }: SavePostInit, html: string): NewPost {
  const { save, type, author_id: author, category, schedule_at: scheduled, interval_minutes: interval } = settings;
  const tags = joinTags(settings.tags, draft.tags ?? []);
  return {
    type,
    status: save === 'schedule' ? 'publish' : save,
    title: draft.title ?? input.topic,
    content: html,
    excerpt: draft.excerpt ?? '',
    ...((author > 0 || user !== null) && { authorId: author || (user?.id ?? 0) }),
    ...(save === 'schedule' && scheduled !== null && { date: scheduled + position * interval * 60_000 }),
    ...(draft.image?.media_id != null && { featuredMediaId: draft.image.media_id }),
    meta: {
      ...metaOf(draft),
      ...(category !== '' && { [metaKeys.category]: category }),
      ...(tags.length > 0 && { [metaKeys.tags]: tags }),
    },
  };
}

/**
 * The changes of a post that is rewritten: the parts that were written, and nothing else. The host keeps what was there
 * as a revision.
 *
 * @throws RestError 404 or 403 when the post is gone or the user may not edit it
 */
export async function prepareRewrite(
  host: Host,
  { draft, generation, user }: Pick<SavePostInit, 'draft' | 'generation' | 'user'>,
  id: number,
): Promise<PreparedPost> {
  const present = await editablePost(host, id, user);
  const html =
    draft.content === undefined
      ? present.content
      : await markdownToHtml(
          draft.content,
          findPreservedMarkup(present.content, (tag) => host.content.shortcodeExists(tag)),
        );
  const changes: NewPost = {
    ...(draft.title !== undefined && { title: draft.title }),
    ...(draft.content !== undefined && { content: html }),
    ...(draft.excerpt !== undefined && { excerpt: draft.excerpt }),
    ...(draft.image?.media_id != null && { featuredMediaId: draft.image.media_id }),
    meta: { ...metaOf(draft), ...(draft.tags !== undefined && { [metaKeys.tags]: [...draft.tags] }) },
  };
  const post = await host.hooks.applyFiltersAsync('svc_content_post', changes, draft, generation);
  return { post, html, write: () => writePost(host, { draft, generation, user, post, update: id }) };
}

/** The post, for a user who may edit it. */
export async function editablePost(
  { content }: Pick<HostApi, 'content'>,
  id: number,
  user: User | null,
): Promise<Post> {
  const post = await content.posts.get(id);
  if (post === null || post.type === 'revision' || post.type === 'attachment' || post.status === 'trash')
    throw new RestError({
      code: 'rest_post_invalid_id',
      status: 404,
      message: `There is no post with the id ${String(id)} that could be rewritten.`,
    });
  if (user !== null && !(await content.can(user, 'edit_post', id)))
    throw new RestError({
      code: 'rest_cannot_edit',
      status: 403,
      message: `${user.displayName} may not edit the post ${String(id)}.`,
    });
  return post;
}

async function writePost(
  { content, hooks }: Host,
  {
    draft,
    generation,
    user,
    post,
    update,
  }: Pick<SavePostInit, 'draft' | 'generation' | 'user'> & { readonly post: NewPost; readonly update: number | null },
): Promise<Post> {
  const media = await keepImage(content, draft, user);
  const { type, ...changes } = { ...post, ...(media !== null && { featuredMediaId: media }) };
  const as = user === null ? {} : { as: user };
  const saved =
    update === null
      ? await content.posts.create({ ...changes, ...(type !== undefined && { type }) }, as)
      : await content.posts.update(update, changes, as);
  await hooks.doActionAsync('svc_content_saved', saved, draft, generation);
  return saved;
}

/** An image that came as data is kept with the post, and not before. */
async function keepImage(
  { media }: Pick<HostApi['content'], 'media'>,
  { image, title }: ContentDraft,
  user: User | null,
): Promise<number | null> {
  if (image?.b64_json == null) return null;
  const bytes = Buffer.from(image.b64_json, 'base64');
  const saved = await media.save({
    bytes,
    name: `generated.${extensionOf(bytes)}`,
    title: (title ?? image.alt).slice(0, 100),
    alt: image.alt.slice(0, 250),
    ...(user !== null && { authorId: user.id }),
  });
  return saved.id;
}

function extensionOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return 'jpg';
  if (bytes[0] === 0x47 && bytes[1] === 0x49) return 'gif';
  return String.fromCharCode(...bytes.subarray(8, 12)) === 'WEBP' ? 'webp' : 'png';
}

function metaOf({ meta_description: description, focus_keyword: keyword }: ContentDraft): Record<string, unknown> {
  return {
    ...(description !== undefined && { [metaKeys.description]: description }),
    ...(keyword !== undefined && { [metaKeys.keyword]: keyword }),
  };
}

function joinTags(...lists: readonly (readonly string[])[]): string[] {
  const seen = new Map<string, string>();
  for (const tag of lists.flat())
    if (tag.trim() !== '' && !seen.has(foldText(tag))) seen.set(foldText(tag), tag.trim());
  return [...seen.values()];
}
