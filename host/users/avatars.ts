import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HooksApi, User } from '#plugin-api';

declare module '#plugin-api' {
  interface FilterMap {
    /** Address of a user's picture of so many pixels, for plugins that have another one. No outside service is asked by default. */
    get_avatar_url: (url: string, user: User, args: { readonly size: number }) => string;
  }
}

export interface AvatarsDependencies {
  readonly hooks: Pick<HooksApi, 'applyFilters'>;
  /** Without a slash at its end. */
  readonly siteUrl: () => string;
}

/** The address of a user's picture. */
export type AvatarUrl = (user: User, size: number) => string;

/**
 * Pictures made here: an initial on a colour. All a picture shows stands in its address, so the route looks at no table,
 * tells nobody who there is, and may be kept for ever.
 */
export function createAvatarUrl({ hooks, siteUrl }: AvatarsDependencies): AvatarUrl {
  return (user, size) => {
    const url = `${siteUrl()}/avatars/${size}/${hueOf(user.login)}/${encodeURIComponent(initialOf(user.displayName))}.svg`;
    return hooks.applyFilters('get_avatar_url', url, user, { size });
  };
}

type Next = (error?: unknown) => void;

const address = /^\/avatars\/([1-9]\d{0,3})\/(\d{1,3})\/([^/?]{1,40})\.svg$/;

/** Answers `/avatars/<pixels>/<hue>/<initial>.svg`; anything else goes to `next`. */
export function avatarsHandler(request: IncomingMessage, response: ServerResponse, next: Next): void {
  const [, size, hue, letter] = address.exec((request.url ?? '').split('?', 1)[0] ?? '') ?? [];
  const initial = letter === undefined ? null : decode(letter);
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
  // Dark enough for white letters at every hue.
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 96 96"><rect width="96" height="96" fill="hsl(${hue}, 45%, 30%)"/><text x="48" y="50" fill="#fff" font-family="system-ui, sans-serif" font-size="48" text-anchor="middle" dominant-baseline="central">${initial}</text></svg>`;
}

/** What stands for those without a letter in their name. */
const nobody = '•';

function initialOf(name: string): string {
  return (/[\p{L}\p{N}]/u.exec(name)?.[0] ?? nobody).toLocaleUpperCase('en').slice(0, 2);
}

/** One or two letters, which hold nothing that means something in SVG; else null. */
function decode(escaped: string): string | null {
  try {
    const text = decodeURIComponent(escaped);
    return text === nobody || /^[\p{L}\p{N}]{1,2}$/u.test(text) ? text : null;
  } catch {
    return null;
  }
}

function hueOf(login: string): number {
  return createHash('sha256').update(login.toLowerCase()).digest().readUInt16BE(0) % 360;
}
