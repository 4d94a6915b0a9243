import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HooksApi, User } from '#plugin-api';

declare module '#plugin-api' {
  interface SyncFilterMap {
    /** URL of the avatar of a user. The default does not use an external service. */
    get_avatar_url: (url: string, user: AvatarOwner, args: { readonly size: number }) => string;
  }
}

/** A user, or the author of a comment. */
export type AvatarOwner = Pick<User, 'login' | 'displayName'>;

export interface AvatarsDependencies {
  readonly hooks: Pick<HooksApi, 'applyFilters'>;
  /** Without a trailing slash. */
  readonly siteUrl: () => string;
}

/** Returns the avatar URL. @param size in pixels. */
export type AvatarUrl = (user: AvatarOwner, size: number) => string;

/**
 * Generated avatars: an initial on a color. The URL contains all data of the picture, so the route needs no database, reveals
 * no users, and responses can be cached forever.
 */
export function createAvatarUrl({ hooks, siteUrl }: AvatarsDependencies): AvatarUrl {
  return (user, size) => {
    const url = `${siteUrl()}/avatars/${size}/${hueFor(user.login)}/${encodeURIComponent(findInitial(user.displayName))}.svg`;
    return hooks.applyFilters('get_avatar_url', url, user, { size });
  };
}

type Next = (error?: unknown) => void;

const address = /^\/avatars\/([1-9]\d{0,3})\/(\d{1,3})\/([^/?]{1,40})\.svg$/;

/** Serves `/avatars/<pixels>/<hue>/<initial>.svg` and passes other requests to `next`. */
export function avatarsHandler(request: IncomingMessage, response: ServerResponse, next: Next): void {
  const [, size, hue, encoded] = address.exec((request.url ?? '').split('?', 1)[0] ?? '') ?? [];
  const initial = encoded === undefined ? null : decode(encoded);
  if (initial === null || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
  const picture = Buffer.from(draw({ size: Number(size), hue: Number(hue) % 360, initial }));
  response.setHeader('Content-Type', 'image/svg+xml; charset=utf-8');
  response.setHeader('Content-Length', String(picture.byteLength));
  response.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
  response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  response.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
  response.end(request.method === 'HEAD' ? undefined : picture);
}

function draw({
  size,
  hue,
  initial,
}: {
  readonly size: number;
  readonly hue: number;
  readonly initial: string;
}): string {
  // Dark enough for white letters with every hue.
  const text = 'x="48" y="50" fill="#fff" font-family="system-ui, sans-serif" font-size="48" text-anchor="middle"';
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 96 96">` +
    `<rect width="96" height="96" fill="hsl(${hue}, 45%, 30%)"/>` +
    `<text ${text} dominant-baseline="central">${initial}</text></svg>`
  );
}

/** Shown for names without a letter. */
const noInitial = '•';

function findInitial(name: string): string {
  return (/[\p{L}\p{N}]/u.exec(name)?.[0] ?? noInitial).toLocaleUpperCase('en').slice(0, 2);
}

/** One or two letters, which cannot contain SVG markup; otherwise null. */
function decode(escaped: string): string | null {
  try {
    const text = decodeURIComponent(escaped);
    return text === noInitial || /^[\p{L}\p{N}]{1,2}$/u.test(text) ? text : null;
  } catch {
    return null;
  }
}

function hueFor(login: string): number {
  return createHash('sha256').update(login.toLowerCase()).digest().readUInt16BE(0) % 360;
}
