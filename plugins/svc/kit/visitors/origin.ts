import { isUrl, type Headers } from '#plugin-api';
import { readAllowedDomain } from './allowed-domain.ts';
import type { EmbedSettings } from './embed-settings.ts';

/** The origin of a request. */
export interface RequestOrigin {
  /** The header: `https://shop.example.com:8443`, or the text `null` of an opaque origin. Null: no header, so not another site (D16). */
  readonly origin: string | null;
  /** Whether it is the site's own origin. */
  readonly isOwn: boolean;
}

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** The parts that origins are compared by. */
interface OriginParts {
  /** With its colon. */
  readonly scheme: string;
  /** Lower case, punycode, without a dot at its end; IPv6 in brackets. */
  readonly host: string;
  /** Null: the scheme has no default port. */
  readonly port: number | null;
}

/** The origin in the header `Origin`, otherwise in `Referer` (D16). An invalid origin stays unchanged and is never allowed. */
export function readOrigin(headers: Headers, siteUrl: string): RequestOrigin {
  const given = headers['origin'] ?? originOfReferer(headers['referer']);
  return given === undefined ? { origin: null, isOwn: false } : namedOrigin(given, siteUrl);
}

/** @param origin value of the header `Origin`. */
export function namedOrigin(origin: string, siteUrl: string): RequestOrigin {
  const parts = parseOrigin(origin);
  const own = parseOrigin(new URL(siteUrl).origin);
  return { origin, isOwn: parts !== null && own !== null && originText(parts) === originText(own) };
}

/**
 * Whether a page may embed a chatbot or form (D16): never while embedding is off; always on the site itself and without an
 * origin; on every site with `any_site`; otherwise on the allowed domains.
 */
export function mayEmbed(embed: EmbedSettings, { origin, isOwn }: RequestOrigin): boolean {
  if (!embed.enabled) return false;
  if (origin === null || isOwn) return true;
  // A sandboxed frame or a local file has no site. Only `any_site` allows it.
  if (origin === 'null') return embed.any_site;
  const parts = parseOrigin(origin);
  if (parts === null || defaultPorts[parts.scheme] === undefined) return false;
  return embed.any_site || embed.allowed_domains.some((entry) => matchesDomain(entry, parts));
}

/** Normalizes an origin, for what is bound to it. '' without an origin. */
export function originKey({ origin }: RequestOrigin): string {
  if (origin === null) return '';
  const parts = parseOrigin(origin);
  return parts === null ? origin : originText(parts);
}

function originText({ scheme, host, port }: OriginParts): string {
  return `${scheme}//${host}:${String(port ?? '')}`;
}

function originOfReferer(referer: string | undefined): string | undefined {
  if (referer === undefined || referer === '') return undefined;
  return isUrl(referer) ? new URL(referer).origin : referer;
}

/** Null if invalid: with a path, with a user name, or several origins. */
function parseOrigin(origin: string): OriginParts | null {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#@\\\s]+$/i.test(origin) || !isUrl(origin)) return null;
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.toLowerCase().replace(/\.$/, '');
  if (host === '' || host.startsWith('.') || host.includes('..')) return null;
  return { scheme: protocol, host, port: port === '' ? (defaultPorts[protocol] ?? null) : Number(port) };
}

function matchesDomain(entry: string, parts: OriginParts): boolean {
  const domain = readAllowedDomain(entry);
  if (domain === null || (domain.scheme !== null && `${domain.scheme}:` !== parts.scheme)) return false;
  // With the dot, `evilexample.com` does not match `*.example.com`.
  const isHost = domain.wildcard ? parts.host.endsWith(`.${domain.host}`) : parts.host === domain.host;
  const port = domain.port ?? (domain.scheme === null ? parts.port : defaultPorts[parts.scheme]);
  return isHost && port === parts.port;
}
