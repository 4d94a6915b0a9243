import type { HostApi } from '#plugin-api';
import { fetchAddress, SourceError, throwSourceError } from './read-source.ts';
import type { parseSitemap } from './sitemap.reader.ts';
import type { Source } from './source.ts';

export const maxSitemapPages = 2_000;
/** Maximum sitemaps of a sitemap index. */
const maxSitemaps = 50;

export interface Sitemap {
  /** Distinct URLs of pages of the same host. */
  readonly pages: readonly string[];
  /** Whether pages beyond the limit are left out. */
  readonly isTruncated: boolean;
}

/** The pages of a sitemap and of the sitemaps it lists, without pages of other hosts. @throws SourceError */
export async function readSitemap(
  host: Pick<HostApi, 'documents' | 'http' | 'site'>,
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
    const { kind, addresses } = await host.documents
      .read<typeof parseSitemap>({
        module: new URL('./sitemap.reader.ts', import.meta.url),
        reader: 'parseSitemap',
        input: { bytes: body, host: own, most: maxSitemapPages + 1 },
        movesBytes: true,
        queue: 'background',
        deadline: 30_000,
        signal,
      })
      .catch(throwSourceError);
    if (kind === null) throw new SourceError(`${url} is not a sitemap: it has neither a urlset nor a sitemapindex.`);
    for (const address of addresses) {
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
