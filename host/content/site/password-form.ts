import type { IncomingMessage, ServerResponse } from 'node:http';
import { RestError } from '#plugin-api';
import { findPostForPassword, singlePage } from './single-post-page.ts';
import type { PublicSiteDependencies, SiteResponse, SiteVisit } from './site-page.ts';

/** The form of a protected post is sent here. */
export const passwordPath = '/post-password';

/** Largest form in bytes: an id and a password. */
const formLimit = 4096;

export type PasswordAnswer =
  | { readonly kind: 'opened'; readonly to: string; readonly cookie: string }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly page: SiteResponse;
    };

/**
 * Reads the form of a protected post. The right password leads back to the post with a cookie; a wrong one shows the form
 * again. Null: there is no such post for this visitor.
 */
export async function enterPassword(
  given: PublicSiteDependencies,
  {
    request,
    response,
    visit,
  }: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly visit: SiteVisit },
): Promise<PasswordAnswer | null> {
  const body = await given.readBody(request, response, { limit: formLimit, isAnonymous: true });
  const form = new URLSearchParams(body?.toString() ?? '');
  const post = await findPostForPassword(given, visit, form.get('post') ?? '');
  if (post === null || isFromElsewhere(request)) return null;
  const password = form.get('post_password') ?? '';
  const refuse = async (status: number, failure: string, headers = {}): Promise<PasswordAnswer> => ({
    kind: 'refused',
    status,
    headers,
    page: await singlePage(given, { post, user: await visit.user(), isUnlocked: false, failure }),
  });
  try {
    if (await given.passwords.check(post, password, visit.ip))
      return { kind: 'opened', to: await given.parts.permalinks.url(post), cookie: given.passwords.cookie(password) };
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    return refuse(error.status, error.message, error.headers);
  }
  return refuse(403, 'Incorrect password. Try again.');
}

/** Pages of other sites must not use up the guesses of a visitor. */
function isFromElsewhere({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}
