import { findFieldError, isEmail, readSentFields, RestError, restError, storableText, type Post } from '#plugin-api';
import { registrationSetting, type ComposedComment } from '../comments/comments.ts';
import { isFromElsewhere } from './password-form.ts';
import { commentAction, commentAddress, longestComment } from './post-comments.ts';
import { findPostById, singlePage } from './single-post-page.ts';
import type { FormAnswer, PublicSiteDependencies, SentForm, SiteSession } from './site-page.ts';

/** The form below a post is sent here. */
export const commentPath = '/post-comment';

/** Largest form in bytes: the longest comment, percent-encoded. */
const formLimit = 262_144;

/**
 * Reads the form below a post and stores the comment. A refused one shows the form again, with the reason and what was
 * typed. Null: there is no such post for this visitor, or another site sent the form.
 */
export async function sendComment(
  given: PublicSiteDependencies,
  { request, response, visit }: SentForm,
): Promise<FormAnswer | null> {
  const session = await visit.session();
  const limits = { limit: formLimit, isAnonymous: session.user.id === 0 };
  const body = await given.readBody(request, response, limits);
  const form = new Map(readSentFields(body ?? ''));
  const post = await findPostById(given, visit, form.get('comment_post_ID') ?? '');
  if (post === null || isFromElsewhere(request)) return null;
  const isUnlocked = given.passwords.isUnlocked(post, visit.cookies);
  const typed = readTyped(form);
  try {
    const unstorable = findFieldError(Object.fromEntries(form));
    if (unstorable !== null) throw refusal(400, 'rest_invalid_param', unstorable.message);
    await checkForm(given, { post, session, isUnlocked, nonce: form.get('_nonce') ?? '' });
    const comment = composeComment({ post, session, typed, ip: visit.ip });
    const agent = (request.headers['user-agent'] ?? '').slice(0, 254);
    const to = await store(
      given,
      { ...comment, authorAgent: agent },
      { session, isTrap: (form.get('url') ?? '') !== '' },
    );
    return { kind: 'accepted', to: await to(await given.parts.permalinks.url(post)) };
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    const sentComment = { ...typed, failure: error.message };
    const page = await singlePage(given, { post, visit, isUnlocked, sentComment });
    return { kind: 'refused', status: error.status, headers: error.headers ?? {}, page };
  }
}

type Typed = Readonly<Record<'name' | 'email' | 'text', string>> & { readonly parentId: number };

function readTyped(form: ReadonlyMap<string, string>): Typed {
  const line = (name: string): string => (form.get(name) ?? '').replace(/\p{Cc}+/gu, ' ').trim();
  return {
    name: line('author'),
    email: line('email'),
    text: storableText(form.get('comment') ?? '').trim(),
    parentId: Number(/^\d{1,9}$/.exec(form.get('comment_parent') ?? '')?.[0] ?? 0),
  };
}

const refusal = (status: number, code: string, message: string): RestError => restError(status, code, message);

/** @throws RestError if the visitor may not comment on the post. */
async function checkForm(
  { parts, options, nonces }: PublicSiteDependencies,
  {
    post,
    session,
    isUnlocked,
    nonce,
  }: { readonly post: Post; readonly session: SiteSession; readonly isUnlocked: boolean; readonly nonce: string },
): Promise<void> {
  if (!isUnlocked) throw refusal(403, 'rest_cannot_read_post', 'Enter the password of the post first.');
  if (!(await parts.comments.isOpen(post)))
    throw refusal(403, 'rest_comment_closed', 'Comments on this post are closed.');
  if (session.user.id === 0 && (await options.get<unknown>(registrationSetting)) !== false)
    throw refusal(403, 'rest_comment_login_required', 'Sign in to comment.');
  if (!Boolean(nonces.verify({ ...session, nonce, action: commentAction(post) })))
    throw refusal(403, 'rest_cookie_invalid_nonce', 'This form has expired. Check your comment and send it again.');
}

/** @throws RestError 400 for missing or overlong values. */
function composeComment({
  post,
  session: { user },
  typed,
  ip,
}: {
  readonly post: Post;
  readonly session: SiteSession;
  readonly typed: Typed;
  readonly ip: string;
}): Omit<ComposedComment, 'authorAgent'> {
  const { name, email, text, parentId } = typed;
  const isGuest = user.id === 0;
  if (isGuest && (name === '' || name.length > 245))
    throw refusal(400, 'rest_comment_author_data_required', 'Enter your name, in at most 245 characters.');
  if (isGuest && (email.length > 100 || !isEmail(email)))
    throw refusal(400, 'rest_invalid_email', 'Enter a valid email address. It is not shown.');
  if (text === '') throw refusal(400, 'rest_comment_content_invalid', 'Enter a comment.');
  if (text.length > longestComment)
    throw refusal(400, 'comment_content_column_length', `Shorten the comment to ${longestComment} characters.`);
  return {
    postId: post.id,
    parentId,
    userId: user.id,
    authorName: (isGuest ? name : user.displayName).slice(0, 245),
    authorEmail: (isGuest ? email : user.email).slice(0, 100),
    authorUrl: '',
    authorIp: ip,
    content: text,
  };
}

/**
 * Stores the comment and returns where to go from the address of its post. A filled-in trap, a field that people do not
 * see, makes it spam; the sender does not learn that.
 */
async function store(
  { parts, countComment }: PublicSiteDependencies,
  comment: ComposedComment,
  { session: { user }, isTrap }: { readonly session: SiteSession; readonly isTrap: boolean },
): Promise<(address: string) => Promise<string> | string> {
  if (!user.can('moderate_comments')) await countComment(comment.authorIp);
  const stored = await parts.comments.create({ ...comment, ...(isTrap && { status: 'spam' }) }, user);
  return (address) =>
    stored.status === 'approved'
      ? commentAddress(parts.comments.store, stored, address)
      : `${address}?comment=held#respond`;
}
