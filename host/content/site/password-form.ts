import type { IncomingMessage } from 'node:http';
import { readSentFields, RestError, textError } from '#plugin-api';
import { findPostById, singlePage } from './single-post-page.ts';
import type { FormAnswer, PublicSiteDependencies, SentForm } from './site-page.ts';

/** The form of a protected post is sent here. */
export const passwordPath = '/post-password';

/** Largest form in bytes: an id and a password. */
const formLimit = 4096;

/**
 * Reads the form of a protected post. The right password leads back to the post with a cookie; a wrong one shows the form
 * again. Null: there is no such post for this visitor.
 */
export async function enterPassword(
  given: PublicSiteDependencies,
  { request, response, visit }: SentForm,
): Promise<FormAnswer | null> {
  const body = await given.readBody(request, response, { limit: formLimit, isAnonymous: true });
  const form = new Map(readSentFields(body ?? ''));
  const post = await findPostById(given, visit, form.get('post') ?? '');
  if (post === null || post.password === '' || isFromElsewhere(request)) return null;
  const password = form.get('post_password') ?? '';
  const refuse = async (status: number, failure: string, headers = {}): Promise<FormAnswer> => ({
    kind: 'refused',
    status,
    headers,
    page: await singlePage(given, { post, visit, isUnlocked: false, failure }),
  });
  const unstorable = textError('The password', password);
  if (unstorable !== null) return refuse(400, unstorable);
  try {
    if (await given.passwords.check(post, password, visit.ip))
      return { kind: 'accepted', to: await given.parts.permalinks.url(post), cookie: given.passwords.cookie(post) };
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    return refuse(error.status, error.message, error.headers);
  }
  return refuse(403, 'Incorrect password. Try again.');
}

/** Whether a page of another site sent the form: it must not use up the guesses of a visitor, or write in their name. */
export function isFromElsewhere({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}
