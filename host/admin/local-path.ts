import { isUrl } from '#plugin-api';
export const adminRoot = '/admin';

/** Path of a page below the admin root; the dashboard's for an empty slug. */
export function adminPath(slug = ''): string {
  return `${adminRoot}/${slug.replace(/^\/+/, '')}`;
}

/**
 * The wanted page after sign-in, if it is one of the admin's own; null for anything a browser could read as another
 * site (`//evil`, `/\evil`, `https:...`), and for the sign-in page itself.
 */
export function localAdminPath(wanted: unknown): string | null {
  if (typeof wanted !== 'string' || !wanted.startsWith('/') || hasTrap(wanted)) return null;
  const base = 'http://local.invalid';
  if (!isUrl(wanted, base)) return null;
  const url = new URL(wanted, base);
  if (url.origin !== base || !(url.pathname === adminRoot || url.pathname.startsWith(`${adminRoot}/`))) return null;
  return /^\/admin\/(login|logout|setup)(\/|$)/.test(url.pathname) ? null : url.pathname + url.search;
}

/** Backslashes and control characters, which browsers drop or turn into slashes. */
function hasTrap(text: string): boolean {
  return [...text].some(
    (character) => character === '\\' || character.charCodeAt(0) <= 32 || character.charCodeAt(0) === 127,
  );
}
