/** Name of the session's cookie. */
export const sessionCookieName = 'svc_session';

/** Browsers keep cookies for 400 days at most; when a session ends is decided by the server. */
const keptSeconds = 400 * 24 * 3600;

/** The session token of a `Cookie` header, or null. */
export function readSessionToken(header: string | undefined): string | null {
  if (header === undefined || !header.includes(sessionCookieName)) return null;
  for (const pair of header.split(';')) {
    const [name = '', value = ''] = pair.split('=', 2);
    if (name.trim() === sessionCookieName) return value.trim();
  }
  return null;
}

/**
 * Value of `Set-Cookie` for a new session: out of reach of scripts, not sent with requests other sites make.
 *
 * @param remember keep it when the browser is closed.
 */
export function sessionCookie(
  token: string,
  { secure, remember }: { readonly secure: boolean; readonly remember: boolean },
): string {
  return `${sessionCookieName}=${token}; Path=/${remember ? `; Max-Age=${keptSeconds}` : ''}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

/** Value of `Set-Cookie` that makes the browser forget the session. */
export function clearingCookie({ secure }: { readonly secure: boolean }): string {
  return `${sessionCookieName}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}
