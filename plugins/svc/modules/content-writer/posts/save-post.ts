import { Buffer } from 'node:buffer';
import { restError, type HostApi, type NewPost, type Post, type User, invalidFields } from '#plugin-api';
import { generatedFileName } from '../../../kit/generated-file-name.ts';
import { foldText } from '../../../kit/fold-text.ts';
import type { ContentGeneration } from '../hooks.ts';
import type { ContentDraft } from '../write/draft.ts';
import { markdownToHtml, findPreservedMarkup } from '../../../kit/markdown-html.ts';
import { metaKeys } from './post-meta.ts';
import { termsOfDraft } from './post-terms.ts';
import { postErrors, type PostSettings } from './post-settings.ts';

export interface SavePostInit {
  readonly draft: ContentDraft;
  readonly generation: ContentGeneration;
  readonly settings: PostSettings;
  /** Position in the batch, from 0; delays scheduled posts. */
  readonly position: number;
  /** The user whose rights apply; null for a command. */
  readonly user: User | null;
}

/** A post that is ready to be stored: all slow work is done. */
export interface PreparedPost {
  readonly post: NewPost;
  /** HTML of the text. */
  readonly html: string;
  /** Call in a transaction: stores the image and the post, and runs `svc_content_saved`. */
  readonly write: () => Promise<Post>;
}

type Host = Pick<HostApi, 'content' | 'users' | 'hooks' | 'i18n'>;

/**
 * Prepares a new post from a draft.
 *
 * @throws RestError 400 `rest_invalid_param` for invalid settings or missing rights of the user
 */
export async function preparePost(host: Host, init: SavePostInit): Promise<PreparedPost> {
  const { draft, generation, settings, user } = init;
  const errors = await postErrors(host, settings, user);
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  const html = await markdownToHtml(draft.content ?? '');
  const post = await host.hooks.applyFiltersAsync('svc_content_post', newPost(host, init, html), draft, generation);
  return { post, html, write: () => writePost(host, { ...init, post, update: null }) };
}

function newPost(
  host: Host,
  { draft, generation: { input }, settings, position, user }: SavePostInit,
  html: string,
): NewPost {
  const category = input.category ?? settings.category;
  const { save, type, author_id: author, schedule_at: scheduled, interval_minutes: interval } = settings;
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
      ...draftMeta(draft, host),
      ...(category !== '' && { [metaKeys.category]: category }),
      ...(tags.length > 0 && { [metaKeys.tags]: tags }),
    },
  };
}

/**
 * Prepares the changes of a rewritten post: only the generated sections change. The host stores the previous version as
 * a revision.
 *
 * @throws RestError 404 or 403 if the post is deleted or the user is not allowed to edit it
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
    meta: { ...draftMeta(draft, host), ...(draft.tags !== undefined && { [metaKeys.tags]: [...draft.tags] }) },
  };
  const post = await host.hooks.applyFiltersAsync('svc_content_post', changes, draft, generation);
  return { post, html, write: () => writePost(host, { draft, generation, user, post, update: id }) };
}

/** The post, if it can be rewritten and the user is allowed to edit it. */
export async function editablePost(
  { content }: Pick<HostApi, 'content'>,
  id: number,
  user: User | null,
): Promise<Post> {
  const post = await content.posts.get(id);
  if (post === null || post.type === 'revision' || post.type === 'attachment' || post.status === 'trash')
    throw restError(404, 'rest_post_invalid_id', `The post ${String(id)} does not exist or cannot be rewritten.`);
  if (user !== null && !(await content.can(user, 'edit_post', id)))
    throw restError(403, 'rest_cannot_edit', `${user.displayName} is not allowed to edit the post ${String(id)}.`);
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
  const media = await saveImage(content, draft, user);
  const written = update === null ? post.type : (await content.posts.get(update))?.type;
  const terms = { ...(await termsOfDraft(content, post, { type: written ?? 'post', user })), ...post.terms };
  const { type, ...changes } = {
    ...post,
    ...(media !== null && { featuredMediaId: media }),
    ...(Object.keys(terms).length > 0 && { terms }),
  };
  const as = user === null ? {} : { as: user };
  const saved =
    update === null
      ? await content.posts.create({ ...changes, ...(type !== undefined && { type }) }, as)
      : await content.posts.update(update, changes, as);
  await hooks.doActionAsync('svc_content_saved', saved, draft, generation);
  return saved;
}

/** Stores an image that was returned as data, together with its post. */
async function saveImage(
  { media }: Pick<HostApi['content'], 'media'>,
  { image, title }: ContentDraft,
  user: User | null,
): Promise<number | null> {
  if (image?.b64_json == null) return null;
  const bytes = Buffer.from(image.b64_json, 'base64');
  const saved = await media.save({
    bytes,
    name: generatedFileName(extensionOf(bytes)),
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

function draftMeta(
  { content, meta_description: description, focus_keyword: keyword }: ContentDraft,
  { i18n }: Pick<Host, 'i18n'>,
): Record<string, unknown> {
  return {
    ...(content !== undefined && {
      [metaKeys.generated]: true,
      [metaKeys.disclosure]: i18n.__('This text was written by AI.'),
    }),
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
