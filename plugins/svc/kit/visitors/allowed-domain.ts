import { isUrl } from '#plugin-api';
import type { SettingErrors } from '../field-errors.ts';
import { listErrors } from '../field-errors.ts';
import type { EmbedSettings } from './embed-settings.ts';

/** One entry of `embed.allowed_domains` (D16). */
export interface AllowedDomain {
  /** `http` or `https`; null: both. */
  readonly scheme: 'http' | 'https' | null;
  /** Lower case, in the form of browsers (`xn--...` for letters beyond ASCII), without the `*.` of a wildcard. */
  readonly host: string;
  /** Any subdomain of the host, but not the host itself. */
  readonly wildcard: boolean;
  /** Null: the default port of the scheme, or any port if there is no scheme. */
  readonly port: number | null;
}

const shape = /^(?:(https?):\/\/)?(\*\.)?(\[[0-9a-f:.]+\]|[^\s/:?#@\\[\]*%]+)(?::(\d{1,5}))?\/?$/i;
const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/** Parses `example.com`, `https://shop.example.com:8443`, `*.example.com` or `localhost:8080`; null if invalid. */
export function readAllowedDomain(text: string): AllowedDomain | null {
  const found = text.length > 300 ? null : shape.exec(text.trim());
  if (!found) return null;
  const [, scheme, star, name = '', portText] = found;
  const host = normalizeHost(name);
  const port = portText === undefined ? null : Number(portText);
  if (host === null || (port !== null && (port < 1 || port > 65_535))) return null;
  const wildcard = star !== undefined;
  // A wildcard before an IP address or a single label (`*.com`) would allow too much.
  if (wildcard && (!host.includes('.') || /^[\d.]+$|^\[/.test(host))) return null;
  return { scheme: (scheme?.toLowerCase() as 'http' | 'https' | undefined) ?? null, host, wildcard, port };
}

/** Errors of the invalid entries of `embed.allowed_domains`. */
export function domainErrors({ allowed_domains: domains }: EmbedSettings): SettingErrors {
  return listErrors('embed.allowed_domains', domains, (domain) =>
    readAllowedDomain(domain)
      ? null
      : 'must be a domain such as example.com, https://shop.example.com:8443 or *.example.com',
  );
}

/** Normalizes a host name with `URL`; null if invalid. */
function normalizeHost(name: string): string | null {
  if (!isUrl(`http://${name}/`)) return null;
  const { hostname } = new URL(`http://${name}/`);
  const host = hostname.replace(/\.$/, '');
  if (host.startsWith('[')) return host;
  return host.length <= 253 && host.split('.').every((part) => label.test(part)) ? host : null;
}
