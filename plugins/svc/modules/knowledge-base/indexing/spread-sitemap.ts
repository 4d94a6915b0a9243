import { hashOf } from '../chunks/numbered-chunks.ts';
import { readSitemap } from '../sources/read-sitemap.ts';
import type { Claimed, Source } from '../sources/source.ts';
import { LeaseLostError, type IndexParts } from './index-parts.ts';

/** What an address is the same source by. */
export function addressIdentity(url: string): string {
  return `address:${hashOf([url])}`;
}

/** Makes each page of a sitemap a source of its own, and has those go that it names no more. */
export async function spreadSitemap(
  parts: IndexParts,
  { source, lease }: Claimed,
  signal: AbortSignal,
): Promise<{ readonly message: string; readonly pages: number }> {
  const { sources, queue } = parts;
  const { pages, isCut } = await readSitemap(parts.host, source, {
    signal,
    onProgress: (message) => {
      void queue.progress(lease, { message }).catch(() => undefined);
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
    if (
      at % 50 === 0 &&
      !(await queue.progress(lease, {
        message: `${String(at)} of ${String(pages.length)} pages noted.`,
        total: pages.length,
        done: at,
      }))
    )
      throw new LeaseLostError();
  }
  const named = new Set(pages);
  const gone = (await childrenOf(parts, source)).filter(({ url }) => !named.has(url));
  for (const { id } of gone) await sources.markDeleting({ id });
  const message = `${String(pages.length)} pages${isCut ? ', the first ones of more' : ''}${gone.length === 0 ? '' : `; ${String(gone.length)} gone`}. Each is a source of its own.`;
  return { message, pages: pages.length };
}

async function childrenOf({ sources }: IndexParts, { id, baseId }: Source): Promise<readonly Source[]> {
  const found: Source[] = [];
  for (let offset = 0; ; offset += 500) {
    const some = await sources.list({ baseId, parentId: id }, { limit: 500, offset });
    found.push(...some);
    if (some.length < 500) return found;
  }
}
