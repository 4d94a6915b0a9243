import type { User } from '#plugin-api';
import type { Authentication, IncomingCall } from './authentication.ts';

export interface PageUserDependencies {
  readonly authentication: Pick<Authentication, 'sessionUser'>;
  readonly users: { readonly anonymous: User };
  readonly siteUrl: () => string;
}

/**
 * Who the cookie of a session names, for requests that browsers vouch to come from a page of the site itself: `Origin`,
 * which scripts cannot set, is the site's, and `Sec-Fetch-Site`, where it is sent, does not say otherwise. Everybody else
 * is the visitor, so that no other site acts in a user's name; there is no nonce to be cached with a page.
 */
export function createPageUser({
  authentication,
  users,
  siteUrl,
}: PageUserDependencies): (call: IncomingCall) => Promise<User> {
  return async (call) => {
    const { origin } = call.headers;
    const site = call.headers['sec-fetch-site'];
    if (origin !== new URL(siteUrl()).origin || (site !== undefined && site !== 'same-origin')) return users.anonymous;
    return (await authentication.sessionUser(call))?.user ?? users.anonymous;
  };
}
