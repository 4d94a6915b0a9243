import { isEmail, isUrl, momentOf, restError, withoutUndefined } from '#plugin-api';
import type { Comment, CommentChanges, CommentState, Params } from '#plugin-api';
import type { ComposedComment } from '../comments/comments.ts';
import { invalidReference, invalidValue, type ContentRestDependencies, type Request } from './context.ts';
import { rawText } from './post-input.ts';

const states: Readonly<Record<string, CommentState>> = {
  approve: 'approved',
  approved: 'approved',
  '1': 'approved',
  hold: 'hold',
  '0': 'hold',
  spam: 'spam',
  trash: 'trash',
};

/** Whether the request takes the comment out of spam or trash. */
export function restores({ params }: Pick<Request, 'params'>, { status }: Comment): boolean {
  return (params['status'] === 'unspam' && status === 'spam') || (params['status'] === 'untrash' && status === 'trash');
}

export function withoutValues(changes: CommentChanges): boolean {
  return Object.keys(changes).length === 0;
}

/**
 * A new comment of a guest, or of the signed-in user.
 *
 * @throws RestError 400 `rest_comment_author_data_required` without a guest's name and email address, `rest_invalid_param`.
 */
export async function readNewComment(given: ContentRestDependencies, request: Request): Promise<ComposedComment> {
  const { params, user, ip, headers } = request;
  const changes = await readChanges(given, params);
  const isOwn = user.id > 0 && (changes.userId ?? user.id) === user.id;
  const comment = {
    postId: Number(params['post']),
    parentId: 0,
    userId: user.id,
    authorName: isOwn ? user.displayName : '',
    authorEmail: isOwn ? user.email : '',
    authorUrl: '',
    authorIp: ip,
    authorAgent: (headers['user-agent'] ?? '').slice(0, 254),
    content: '',
    ...(await authorOf(given, changes.userId ?? 0)),
    ...changes,
  };
  // A signed-in author comments under the own name: no other user can be imitated.
  const named =
    isOwn && !user.can('moderate_comments') ? { authorName: user.displayName, authorEmail: user.email } : {};
  const complete = { ...comment, ...named };
  if (complete.authorName.trim() === '' || !isEmail(complete.authorEmail))
    throw restError(
      400,
      'rest_comment_author_data_required',
      'Creating a comment requires valid author name and email values.',
    );
  return {
    ...complete,
    authorName: complete.authorName.slice(0, 245),
    authorEmail: complete.authorEmail.slice(0, 100),
  };
}

async function authorOf({ users }: ContentRestDependencies, id: number): Promise<Partial<ComposedComment>> {
  const author = id > 0 ? await users.get(id) : null;
  return author === null ? {} : { authorName: author.displayName, authorEmail: author.email };
}

/** @throws RestError 403 `rest_comment_invalid_post_id`, 400 `rest_invalid_param`, `rest_comment_invalid_author_id`. */
export async function readCommentChanges(
  given: ContentRestDependencies,
  before: Comment,
  { params, user }: Request,
): Promise<CommentChanges> {
  const postId = typeof params['post'] === 'number' ? params['post'] : before.postId;
  if (postId !== before.postId) {
    const post = await given.parts.store.get(postId);
    if (post === null || !user.can('edit_post', post))
      throw restError(403, 'rest_comment_invalid_post_id', 'Invalid post ID.');
  }
  return { ...(await readChanges(given, params)), ...(postId !== before.postId && { postId }) };
}

async function readChanges(given: ContentRestDependencies, params: Params): Promise<CommentChanges> {
  const text = (name: string): string | undefined =>
    typeof params[name] === 'string' ? params[name].trim() : undefined;
  const userId = typeof params['author'] === 'number' ? params['author'] : undefined;
  if (userId !== undefined && userId !== 0 && (await given.users.get(userId)) === null)
    throw invalidReference({
      name: 'author',
      message: 'Invalid comment author ID.',
      code: 'rest_comment_invalid_author_id',
    });
  const [dateText, zone] =
    params['date'] === undefined ? [params['date_gmt'], 'UTC'] : [params['date'], await given.site.timezone()];
  const changes = {
    userId,
    authorName: text('author_name')?.replace(/\p{Cc}+/gu, ' '),
    authorEmail: checkEmail(text('author_email')),
    authorUrl: checkUrl(text('author_url')),
    authorIp: text('author_ip'),
    authorAgent: text('author_user_agent'),
    content: rawText(params['content']),
    date: typeof dateText === 'string' ? (momentOf(dateText, zone) ?? undefined) : undefined,
    parentId: typeof params['parent'] === 'number' ? params['parent'] : undefined,
    status: states[String(params['status'])],
  };
  return withoutUndefined(changes);
}

function checkEmail(email: string | undefined): string | undefined {
  if (email === undefined || email === '' || isEmail(email)) return email;
  throw invalidValue({ name: 'author_email', message: 'Invalid email address.', code: 'rest_invalid_email' });
}

/** Only web addresses: the name of the author links to it. */
function checkUrl(url: string | undefined): string | undefined {
  if (url === undefined || url === '' || (/^https?:\/\//i.test(url) && isUrl(url))) return url;
  throw invalidValue({ name: 'author_url', message: 'Enter an address that starts with https:// or http://.' });
}
