import { momentOf, withoutUndefined } from '#plugin-api';
import type { CommentStatus, Params, Post, PostInput, PostType } from '#plugin-api';
import { mayWriteMeta } from '../meta/meta.ts';
import { mediaMeta } from '../media/media.ts';
import {
  invalidReference,
  invalidValue,
  refused,
  type ContentRestDependencies,
  type InvalidValue,
  type Request,
} from './context.ts';
import { readTerms } from './post-terms.ts';

export interface ReadingInput {
  readonly type: PostType;
  readonly request: Request;
  /** `request.params`, possibly extended by form fields. */
  readonly params: Params;
  /** Null: a new post. */
  readonly before: Post | null;
}

/**
 * Reads the post data of a request and checks the permissions of its user.
 *
 * @throws RestError `rest_cannot_publish`, `rest_cannot_edit_others`, `rest_invalid_param`, ...
 */
export async function readPostInput(given: ContentRestDependencies, reading: ReadingInput): Promise<PostInput> {
  const { type, params, before } = reading;
  const isMedia = type.name === 'attachment';
  const status =
    typeof params['status'] === 'string' && params['status'] !== before?.status
      ? readStatus(given, reading, params['status'])
      : undefined;
  const authorId = readAuthor(reading);
  const date = readDate(params, await given.site.timezone());
  const meta = readMeta(given, reading);
  const terms = readTerms(given, type, reading);
  return {
    ...textMember(params, 'title', 'title'),
    ...textMember(params, isMedia ? 'description' : 'content', 'content'),
    ...textMember(params, isMedia ? 'caption' : 'excerpt', 'excerpt'),
    ...(typeof params['slug'] === 'string' && { slug: params['slug'] }),
    ...withoutUndefined({ status, authorId, date }),
    ...numberMember(params, isMedia ? 'post' : 'parent', 'parentId'),
    ...numberMember(params, 'menu_order', 'menuOrder'),
    ...(typeof params['password'] === 'string' && !isMedia && { password: params['password'] }),
    ...(isCommentStatus(params['comment_status']) && { commentStatus: params['comment_status'] }),
    ...numberMember(params, 'featured_media', 'featuredMediaId'),
    ...(meta && { meta }),
    ...(terms && { terms }),
  };
}

function isCommentStatus(value: unknown): value is CommentStatus {
  return value === 'open' || value === 'closed';
}

/** A text, or the `raw` member of an object. */
export function rawText(value: unknown): string | undefined {
  const raw: unknown = typeof value === 'object' && value !== null ? (value as { raw?: unknown }).raw : value;
  return typeof raw === 'string' ? raw : undefined;
}

function textMember(params: Params, name: string, member: 'title' | 'content' | 'excerpt'): Partial<PostInput> {
  const raw = rawText(params[name]);
  return raw === undefined ? {} : { [member]: raw };
}

function numberMember(
  params: Params,
  name: string,
  member: 'parentId' | 'menuOrder' | 'featuredMediaId',
): Partial<PostInput> {
  const value = params[name];
  return typeof value === 'number'
    ? { [member]: value }
    : value === null && member === 'parentId'
      ? { [member]: 0 }
      : {};
}

/** Why a post of the type cannot get the status; null if it can. */
export function invalidStatus(
  { statuses }: Pick<ContentRestDependencies['parts'], 'statuses'>,
  type: PostType,
  wanted: unknown,
): InvalidValue | null {
  // Files also have the status of their post.
  const names = statuses
    .all()
    .filter(({ internal, name }) => !internal || (type.name === 'attachment' && name === 'inherit'))
    .map(({ name }) => name);
  if (typeof wanted === 'string' && names.includes(wanted)) return null;
  const list = new Intl.ListFormat('en').format(names);
  return { name: 'status', message: `status is not one of ${list}.`, code: 'rest_not_in_enum' };
}

function readStatus({ parts }: ContentRestDependencies, { type, request }: ReadingInput, wanted: string): string {
  const error = invalidStatus(parts, type, wanted);
  if (error !== null) throw invalidValue(error);
  const isPublic = parts.statuses.get(wanted)?.public === true;
  const mayPublish = request.user.can(type.capabilities.publish_posts);
  if (wanted === 'private' && !mayPublish)
    throw refused(
      request,
      'rest_cannot_publish',
      'Sorry, you are not allowed to create private posts in this post type.',
    );
  if ((isPublic || wanted === 'future') && !mayPublish)
    throw refused(request, 'rest_cannot_publish', 'Sorry, you are not allowed to publish posts in this post type.');
  return wanted;
}

function readAuthor({ type, request, params, before }: ReadingInput): number | undefined {
  const wanted = params['author'];
  if (typeof wanted !== 'number' || wanted === (before?.authorId ?? request.user.id)) return undefined;
  if (wanted !== request.user.id && !request.user.can(type.capabilities.edit_others_posts)) {
    throw refused(
      request,
      'rest_cannot_edit_others',
      `Sorry, you are not allowed to ${before === null ? 'create' : 'update'} posts as this user.`,
    );
  }
  return wanted;
}

/**
 * Checks that author, featured image and parent exist, before anything is written. Skips what the permission check refuses
 * anyway, so that it reveals nothing.
 *
 * @throws RestError 400 `rest_invalid_author`, `rest_invalid_featured_media` or `rest_post_invalid_id`.
 */
export async function checkReferences(
  { parts, users }: ContentRestDependencies,
  { type, request: { user }, params, before }: ReadingInput,
): Promise<void> {
  const { author, featured_media: image, parent } = params;
  const { edit_posts: edit, edit_others_posts: editOthers } = type.capabilities;
  if (
    typeof author === 'number' &&
    author !== (before?.authorId ?? user.id) &&
    user.can(editOthers) &&
    (await users.get(author)) === null
  )
    throw invalidReference({ name: 'author', message: 'Invalid author ID.', code: 'rest_invalid_author' });
  if (!user.can(edit)) return;
  if (typeof image === 'number' && image !== 0 && (await parts.media.get(image)) === null)
    throw invalidReference({
      name: 'featured_media',
      message: 'Invalid featured media ID.',
      code: 'rest_invalid_featured_media',
    });
  if (typeof parent === 'number' && parent !== 0 && (await parts.store.get(parent)) === null)
    throw invalidReference({ name: 'parent', message: 'Invalid post parent ID.', code: 'rest_post_invalid_id' });
}

/** `date` takes precedence over `date_gmt`. Null resets to a floating date. */
function readDate(params: Params, timezone: string): number | null | undefined {
  const [text, zone] = params['date'] !== undefined ? [params['date'], timezone] : [params['date_gmt'], 'UTC'];
  if (text === null) return null;
  return typeof text === 'string' && text !== '' ? (momentOf(text, zone) ?? undefined) : undefined;
}

/** Reads the meta keys that REST exposes. Ignores others, as in WordPress. */
function readMeta(
  { parts: { meta } }: ContentRestDependencies,
  { type, request, params, before }: ReadingInput,
): Record<string, unknown> | null {
  const given = typeof params['meta'] === 'object' && params['meta'] !== null ? (params['meta'] as Params) : {};
  const values: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    const definition = meta.find(type.name, key);
    if (definition?.showInRest !== true || value === undefined) continue;
    const post = before ?? draftPost(type.name, request.user.id);
    if (!mayWriteMeta({ definition, key, user: request.user, post }))
      throw refused(request, 'rest_cannot_update', `Sorry, you are not allowed to edit the ${key} custom field.`);
    values[key] = value;
  }
  if (typeof params['alt_text'] === 'string' && type.name === 'attachment')
    values[mediaMeta.alt] = params['alt_text'].replace(/<[^<>]*>/g, '').trim();
  return Object.keys(values).length === 0 ? null : values;
}

/** A placeholder for the new post, for rules that check its author. */
function draftPost(type: string, authorId: number): Post {
  return {
    id: 0,
    type,
    status: 'draft',
    title: '',
    content: '',
    excerpt: '',
    slug: '',
    authorId,
    parentId: 0,
    menuOrder: 0,
    date: 0,
    isDateSet: false,
    modified: 0,
    mimeType: '',
    featuredMediaId: 0,
    trashedFrom: null,
    password: '',
    commentStatus: 'closed',
  };
}
