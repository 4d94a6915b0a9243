import { Parser } from 'htmlparser2';
import { isUrl, type HostApi } from '#plugin-api';
import { gunzipSync } from 'node:zlib';
import { fetchAddress, SourceError } from './read-source.ts';
import type { Source } from './source.ts';

export const maxSitemapPages = 2_000;
/** Maximum sitemaps of a sitemap index. */
const maxSitemaps = 50;
const maxBytes = 50_000_000;

export interface Sitemap {
  /** Distinct URLs of pages of the same host. */
  readonly pages: readonly string[];
  /** Whether pages beyond the limit are left out. */
  readonly isTruncated: boolean;
}

/** The pages of a sitemap and of the sitemaps it lists, without pages of other hosts. @throws SourceError */
export async function readSitemap(
  host: Pick<HostApi, 'http' | 'site'>,
  source: Pick<Source, 'url' | 'origin'>,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (message: string) => void },
): Promise<Sitemap> {
  const own = new URL(source.url).host;
  const waiting = [source.url];
  const seen = new Set(waiting);
  const pages = new Set<string>();
  for (let url = waiting.shift(); url !== undefined && pages.size <= maxSitemapPages; url = waiting.shift()) {
    onProgress(`Reading ${url}`);
    const { status, body } = await fetchAddress(host, { ...source, url }, signal);
    if (status < 200 || status > 299)
      throw Object.assign(status >= 500 || status === 429 ? new Error() : new SourceError(''), {
        message: `${url} returned status ${String(status)}.`,
        status,
      });
    const { kind, addresses } = parseSitemap(decodeSitemap(body));
    if (kind === null) throw new SourceError(`${url} is not a sitemap: it has neither a urlset nor a sitemapindex.`);
    for (const address of addresses.filter((one) => isUrl(one) && new URL(one).host === own)) {
      if (kind === 'urlset') pages.add(address);
      else if (!seen.has(address) && seen.size < maxSitemaps) {
        seen.add(address);
        waiting.push(address);
      }
    }
  }
  if (pages.size === 0) throw new SourceError(`The sitemap lists no page of ${own}.`);
  return { pages: [...pages].slice(0, maxSitemapPages), isTruncated: pages.size > maxSitemapPages };
}

function decodeSitemap(body: Uint8Array): string {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return Buffer.from(body).toString('utf8');
  try {
    return gunzipSync(body, { maxOutputLength: maxBytes }).toString('utf8');
  } catch {
    throw new SourceError('The compressed sitemap is damaged or larger than 50 MB.');
  }
}

function parseSitemap(xml: string): {
  readonly kind: 'urlset' | 'sitemapindex' | null;
  readonly addresses: readonly string[];
} {
  let kind: 'urlset' | 'sitemapindex' | null = null;
  let location: string | null = null;
  const addresses: string[] = [];
  const parser = new Parser(
    {
      onopentag: (name) => {
        if (name === 'urlset' || name === 'sitemapindex') kind ??= name;
        if (name === 'loc') location = '';
      },
      ontext: (text) => {
        if (location !== null) location += text;
      },
      onclosetag: (name) => {
        if (name !== 'loc' || location === null) return;
        addresses.push(location.trim());
        location = null;
      },
    },
    { xmlMode: true },
  );
  parser.write(xml);
  parser.end();
  return { kind, addresses };
}
