import { Parser } from 'htmlparser2';
import { isUrl, type HostApi } from '#plugin-api';
import { gunzipSync } from 'node:zlib';
import { fetchAddress, SourceError } from './read-source.ts';
import type { Source } from './source.ts';

export const mostSitemapPages = 2_000;
/** Sitemaps that a sitemap may name. */
const mostSitemaps = 50;
const mostBytes = 50_000_000;

export interface Sitemap {
  /** Addresses of pages of its own site, each once. */
  readonly pages: readonly string[];
  /** Whether there are more than are taken. */
  readonly isCut: boolean;
}

/** The pages a sitemap names, and those of the sitemaps it names. Pages of other hosts are left out. @throws SourceError */
export async function readSitemap(
  host: Pick<HostApi, 'http' | 'site'>,
  source: Pick<Source, 'url' | 'origin'>,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (message: string) => void },
): Promise<Sitemap> {
  const own = new URL(source.url).host;
  const waiting = [source.url];
  const seen = new Set(waiting);
  const pages = new Set<string>();
  for (let url = waiting.shift(); url !== undefined && pages.size <= mostSitemapPages; url = waiting.shift()) {
    onProgress(`Reading ${url}`);
    const { status, body } = await fetchAddress(host, { ...source, url }, signal);
    if (status < 200 || status > 299)
      throw Object.assign(status >= 500 || status === 429 ? new Error() : new SourceError(''), {
        message: `${url} answered ${String(status)}.`,
        status,
      });
    const { kind, addresses } = locationsOf(textOf(body));
    if (kind === null) throw new SourceError(`${url} is no sitemap: it holds neither a urlset nor a sitemapindex.`);
    for (const address of addresses.filter((one) => isUrl(one) && new URL(one).host === own)) {
      if (kind === 'urlset') pages.add(address);
      else if (!seen.has(address) && seen.size < mostSitemaps) {
        seen.add(address);
        waiting.push(address);
      }
    }
  }
  if (pages.size === 0) throw new SourceError(`No page of ${own} is named in it.`);
  return { pages: [...pages].slice(0, mostSitemapPages), isCut: pages.size > mostSitemapPages };
}

function textOf(body: Uint8Array): string {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return Buffer.from(body).toString('utf8');
  try {
    return gunzipSync(body, { maxOutputLength: mostBytes }).toString('utf8');
  } catch {
    throw new SourceError('The sitemap is packed, and damaged or larger than 50 MB.');
  }
}

function locationsOf(xml: string): {
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
