import { isUrl, type Headers } from '#plugin-api';
import { readAllowedDomain } from './allowed-domain.ts';
import type { EmbedSettings } from './embed-settings.ts';

/** Where a request comes from. */
export interface RequestOrigin {
  /** As the header has it: `https://shop.example.com:8443`, or `null` of pages without one; null: none is named, it is not from another site (D16). */
  readonly origin: string | null;
  /** From a page of the site itself. */
  readonly isOwn: boolean;
}

const usualPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** What an origin is compared by. */
interface OriginParts {
  /** With its colon. */
  readonly scheme: string;
  /** Lower case, punycode, without a dot at its end; IPv6 in brackets. */
  readonly host: string;
  /** Null: one that the scheme does not tell. */
  readonly port: number | null;
}

/** The origin a request names: the header `Origin`, else that of `Referer` (D16). What cannot be read is kept as it is, and never allowed. */
export function readOrigin(headers: Headers, siteUrl: string): RequestOrigin {
  const given = headers['origin'] ?? originOfReferer(headers['referer']);
  return given === undefined ? { origin: null, isOwn: false } : namedOrigin(given, siteUrl);
}

/** @param origin value of the header `Origin`. */
export function namedOrigin(origin: string, siteUrl: string): RequestOrigin {
  const place = parseOrigin(origin);
  const own = parseOrigin(new URL(siteUrl).origin);
  return { origin, isOwn: place !== null && own !== null && originText(place) === originText(own) };
}

/**
 * Whether a page may show what these settings are of, a chatbot or a form (D16): not while the switch is off; always on the site itself and where no other site is
 * named; on any site with the box; else on those of the list.
 */
export function mayEmbed(embed: EmbedSettings, { origin, isOwn }: RequestOrigin): boolean {
  if (!embed.enabled) return false;
  if (origin === null || isOwn) return true;
  // A sandboxed frame or a file: a site it is none, but any is any.
  if (origin === 'null') return embed.any_site;
  const place = parseOrigin(origin);
  if (place === null || usualPorts[place.scheme] === undefined) return false;
  return embed.any_site || embed.allowed_domains.some((entry) => matchesDomain(entry, place));
}

/** One text for all spellings of an origin, for what is bound to it. Empty where none is named. */
export function originKey({ origin }: RequestOrigin): string {
  if (origin === null) return '';
  const place = parseOrigin(origin);
  return place === null ? origin : originText(place);
}

function originText({ scheme, host, port }: OriginParts): string {
  return `${scheme}//${host}:${String(port ?? '')}`;
}

function originOfReferer(referer: string | undefined): string | undefined {
  if (referer === undefined || referer === '') return undefined;
  return isUrl(referer) ? new URL(referer).origin : referer;
}

/** Null: it is not an origin (a path behind it, a user name in it, several of them). */
function parseOrigin(origin: string): OriginParts | null {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#@\\\s]+$/i.test(origin) || !isUrl(origin)) return null;
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.toLowerCase().replace(/\.$/, '');
  if (host === '' || host.startsWith('.') || host.includes('..')) return null;
  return { scheme: protocol, host, port: port === '' ? (usualPorts[protocol] ?? null) : Number(port) };
}

function matchesDomain(entry: string, place: OriginParts): boolean {
  const domain = readAllowedDomain(entry);
  if (domain === null || (domain.scheme !== null && `${domain.scheme}:` !== place.scheme)) return false;
  // The dot makes sure that `evilexample.com` is not below `example.com`.
  const isHost = domain.wildcard ? place.host.endsWith(`.${domain.host}`) : place.host === domain.host;
  const port = domain.port ?? (domain.scheme === null ? place.port : usualPorts[place.scheme]);
  return isHost && port === place.port;
}
