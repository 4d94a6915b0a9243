import { isUrl } from '#plugin-api';
import { Parser } from 'htmlparser2';

/** A script tag of a page. */
export interface PageScript {
  readonly src: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** What of a page decides whether the widget shows. */
export interface ReadPage {
  /** Address that relative ones are below of. */
  readonly base: URL;
  /** Scripts with an address. Those within templates, comments and `noscript` are not run, and not here. */
  readonly scripts: readonly PageScript[];
  /** The attribute `bot` of each `<svc-chatbot>`. */
  readonly elements: readonly string[];
  /** Policies that the page itself names. */
  readonly policies: readonly string[];
}

const inert = new Set(['template', 'noscript']);

/** Reads the HTML of a page as it was sent; what its scripts would add to it is not known. */
export function readPage(html: string, address: URL): ReadPage {
  const scripts: PageScript[] = [];
  const elements: string[] = [];
  const policies: string[] = [];
  let base: URL | null = null;
  let depth = 0;
  const readers: Readonly<Record<string, (attributes: Record<string, string>) => void>> = {
    base: ({ href }) => {
      if (href !== undefined && isUrl(href, address.href)) base ??= new URL(href, address);
    },
    script: (attributes) => {
      if (attributes['src'] !== undefined) scripts.push({ src: attributes['src'].trim(), attributes });
    },
    'svc-chatbot': ({ bot = '' }) => void elements.push(bot.trim()),
    meta: ({ 'http-equiv': name = '', content = '' }) => {
      if (name.trim().toLowerCase() === 'content-security-policy') policies.push(content);
    },
  };
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (inert.has(name)) depth += 1;
        else if (depth === 0) readers[name]?.(attributes);
      },
      onclosetag(name) {
        if (inert.has(name)) depth -= 1;
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  parser.end(html);
  return { base: base ?? address, scripts, elements, policies };
}
