import { gunzipSync } from 'node:zlib';
import { Parser } from 'htmlparser2';
import { DocumentError, isUrl } from '#plugin-api';

const maxBytes = 50_000_000;

export interface ParsedSitemap {
  /** Null: neither. */
  readonly kind: 'urlset' | 'sitemapindex' | null;
  /** Distinct URLs. */
  readonly addresses: readonly string[];
}

/**
 * Reads the URLs of a host from a sitemap, also a compressed one.
 *
 * @param most URLs to return
 * @throws DocumentError when the compressed file is damaged or too large
 */
export function parseSitemap({
  bytes,
  host,
  most,
}: {
  readonly bytes: Uint8Array;
  readonly host: string;
  readonly most: number;
}): ParsedSitemap {
  let kind: 'urlset' | 'sitemapindex' | null = null;
  let location: string | null = null;
  const addresses = new Set<string>();
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
        const address = location.trim();
        if (addresses.size < most && isUrl(address) && new URL(address).host === host) addresses.add(address);
        location = null;
      },
    },
    { xmlMode: true },
  );
  parser.write(decodeSitemap(bytes));
  parser.end();
  return { kind, addresses: [...addresses] };
}

function decodeSitemap(body: Uint8Array): string {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return Buffer.from(body).toString('utf8');
  try {
    return gunzipSync(body, { maxOutputLength: maxBytes }).toString('utf8');
  } catch {
    throw new DocumentError('The compressed sitemap is damaged or larger than 50 MB.');
  }
}
