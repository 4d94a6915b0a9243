import { isUrl } from '#plugin-api';
export const adminRoot = '/admin';

/** Path of a page below the admin root. An empty slug is the dashboard. */
export function adminPath(slug = ''): string {
  return `${adminRoot}/${slug.replace(/^\/+/, '')}`;
}

/** The address of a link that plugins give: an absolute URL, or the slug of a page with its query and fragment. */
export function toHref(href: string): string {
  return /^https?:\/\//.test(href) ? href : adminPath(href);
}

/** Path of the second step of sign-in, which leads to the wanted page. */
export function secondStepPath(wanted: string): string {
  return `${adminPath('login/verify')}?to=${encodeURIComponent(wanted)}`;
}

/**
 * The requested page after sign-in if it belongs to the admin. Null for anything that a browser could read as another
 * site (`//evil`, `/\evil`, `https:...`), and for the sign-in page itself.
 */
export function localAdminPath(wanted: unknown): string | null {
  if (typeof wanted !== 'string' || !wanted.startsWith('/') || hasTrap(wanted)) return null;
  const base = 'http://local.invalid';
  if (!isUrl(wanted, base)) return null;
  const url = new URL(wanted, base);
  if (url.origin !== base || !(url.pathname === adminRoot || url.pathname.startsWith(`${adminRoot}/`))) return null;
  return /^\/admin\/(login|logout|forgot-password|set-password|setup)(\/|$)/.test(url.pathname)
    ? null
    : url.pathname + url.search;
}

/** Browsers drop control characters and turn backslashes into slashes. */
function hasTrap(text: string): boolean {
  return [...text].some(
    (character) => character === '\\' || character.charCodeAt(0) <= 32 || character.charCodeAt(0) === 127,
  );
}

/** Path at which WordPress has the page where applications ask for an application password. It leads to that page of the admin. */
export const authorizePath = '/wp-admin/authorize-application.php';
