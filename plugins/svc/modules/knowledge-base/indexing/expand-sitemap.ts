import { hashTexts } from '../chunks/chunk-text.ts';
import { readSitemap } from '../sources/read-sitemap.ts';
import type { Source } from '../sources/source.ts';
import type { IndexParts } from '../knowledge.ts';

/** Identity of a page within its knowledge base. */
export function addressIdentity(url: string): string {
  return `address:${hashTexts([url])}`;
}

/** Adds each page of a sitemap as a source, and deletes sources that the sitemap no longer lists. */
export async function expandSitemap(
  parts: IndexParts,
  source: Source,
  signal: AbortSignal,
): Promise<{ readonly message: string; readonly pages: number }> {
  const { sources, work } = parts;
  const { pages, isTruncated } = await readSitemap(parts.host, source, {
    signal,
    onProgress: (message) => {
      void work.progress(source, { message }).catch(() => undefined);
    },
  });
  for (const [at, url] of pages.entries()) {
    signal.throwIfAborted();
    await sources.put({
      baseId: source.baseId,
      kind: 'address',
      identity: addressIdentity(url),
      title: url,
      url,
      parentId: source.id,
      origin: source.origin,
    });
    if (at % 50 === 0)
      await work.progress(source, {
        message: `${String(at)} of ${String(pages.length)} pages added`,
        total: pages.length,
        done: at,
      });
  }
  const named = new Set(pages);
  const gone = (await listChildren(parts, source)).filter(({ url }) => !named.has(url));
  for (const { id } of gone) await sources.markDeleting({ id });
  const deleted = gone.length === 0 ? '' : `, ${String(gone.length)} deleted`;
  const message = `${String(pages.length)} pages${isTruncated ? ' (the first ones)' : ''}${deleted}. Each page is a source.`;
  return { message, pages: pages.length };
}

async function listChildren({ sources }: IndexParts, { id, baseId }: Source): Promise<readonly Source[]> {
  const found: Source[] = [];
  for (let offset = 0; ; offset += 500) {
    const some = await sources.list({ baseId, parentId: id }, { limit: 500, offset });
    found.push(...some);
    if (some.length < 500) return found;
  }
}
