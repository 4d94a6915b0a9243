import { isUrl } from '#plugin-api';
import { Parser } from 'htmlparser2';

/** A script tag of a page. */
export interface PageScript {
  readonly src: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The parts of a page that decide whether the widget can load. */
export interface ReadPage {
  /** Base URL of relative URLs. */
  readonly base: string;
  /** Scripts with a `src`. Scripts in templates, comments and `noscript` do not run and are left out. */
  readonly scripts: readonly PageScript[];
  /** The attribute `bot` of each `<svc-chatbot>`. */
  readonly elements: readonly string[];
  /** Policies in `meta` tags. */
  readonly policies: readonly string[];
}

const inert = new Set(['template', 'noscript']);

/** Parses the HTML as the server sent it. Changes by scripts are not seen. */
export function parsePage({ html, address }: { readonly html: string; readonly address: string }): ReadPage {
  const scripts: PageScript[] = [];
  const elements: string[] = [];
  const policies: string[] = [];
  let base: string | null = null;
  let depth = 0;
  const readers: Readonly<Record<string, (attributes: Record<string, string>) => void>> = {
    base: ({ href }) => {
      if (href !== undefined && isUrl(href, address)) base ??= new URL(href, address).href;
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
