import { oneLine } from './formats/text-blocks.ts';
import { invisibleStyle, measurePage, parsePageText, type PageText } from './page-text.reader.ts';

/** Pages beyond these limits are read without a tree of their elements. */
const limits = { characters: 5_000_000, elements: 20_000, depth: 200 };
/** An article with fewer words may be a teaser, or a notice about cookies. */
const fewestWords = 100;
/** Parts of a page whose tables are not of its article. */
const besideArticle = 'nav, footer, aside, form, [role="navigation"], [role="presentation"]';
/** Scripts without spaces are counted by characters. */
const words = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[\p{L}\p{M}\p{N}]+/gu;

interface FoundArticle {
  readonly title: string;
  readonly html: string;
  /** Tables with headings, wherever they are in the page. */
  readonly tables: readonly string[];
}

/**
 * The text of a page: its article, as the reading mode of browsers finds it, and below it the tables with headings that this mode
 * drops. A page without an article is read as by `parsePageText`. Nothing in the page is run or fetched.
 *
 * @param html of any size, even if broken
 */
export async function readArticle(html: string): Promise<PageText> {
  const { title, text, elements, depth } = measurePage(html);
  const isSmall = html.length <= limits.characters && elements <= limits.elements && depth <= limits.depth;
  // The libraries fail on pages that are broken in rare ways.
  const article = isSmall ? await findArticle(html).catch(() => null) : null;
  return (article && joinArticle({ ...article, title: article.title || title })) ?? { title, text };
}

/** Null: the page has no article, or one that cannot be found. */
async function findArticle(html: string): Promise<FoundArticle | null> {
  const [{ DOMParser }, { Readability, isProbablyReaderable }] = await Promise.all([
    import('linkedom'),
    import('@mozilla/readability'),
  ]);
  const document = new DOMParser().parseFromString(framed(html), 'text/html');
  for (const element of document.querySelectorAll('[hidden], [style]'))
    if (element.hasAttribute('hidden') || invisibleStyle.test(element.getAttribute('style') ?? '')) element.remove();
  if (!isProbablyReaderable(document)) return null;
  const tables: string[] = [];
  for (const table of document.querySelectorAll('table'))
    if (table.querySelector('th') && !table.querySelector('table') && !table.closest(besideArticle))
      tables.push(table.outerHTML);
  const found = new Readability(document).parse();
  return found?.content ? { title: found.title ?? '', html: found.content, tables } : null;
}

/** The tree has no `html` and `body` where the page leaves them out. */
function framed(html: string): string {
  if (/<html[\s>]/i.test(html) && /<body[\s>]/i.test(html)) return html;
  const body = html.replace(/<\/?(?:html|head|body)(?:\s[^<>]*)?>/gi, '');
  return `<!doctype html><html><head></head><body>${body}</body></html>`;
}

/** Null: the article is too short to be one. */
function joinArticle({ title, html, tables }: FoundArticle): PageText | null {
  const { text } = parsePageText({ html: `<main>${html}</main>` });
  if ((text.match(words) ?? []).length < fewestWords) return null;
  const line = oneLine(title);
  const [first = '', ...rest] = text.split('\n\n');
  const body = first.replace(/^#+ /, '') === line ? rest.join('\n\n') : text;
  const lost = tables
    .map((table) => parsePageText({ html: table }).text)
    .filter((table) => table !== '' && !text.includes(table));
  return { title: line, text: [line === '' ? '' : `# ${line}`, body, ...lost].filter(Boolean).join('\n\n') };
}
