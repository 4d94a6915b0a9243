import { Parser } from 'htmlparser2';
import { joinBlocks, oneLine, type TextBlock } from './formats/text-blocks.ts';

/** The text of a page. */
export interface PageText {
  /** One line; '' without a title. */
  readonly title: string;
  /** Plain text. Headings begin with `#` to `######`, list items with `- `; an empty line separates blocks. */
  readonly text: string;
}

interface Block extends TextBlock {
  readonly isMain: boolean;
  /** Number of the outermost `article` around it; 0: none. */
  readonly article: number;
  /** Inside navigation, forms, asides or footers. */
  readonly isBoilerplate: boolean;
}

const hidden = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'math',
  'iframe',
  'object',
  'select',
  'button',
  'textarea',
  'dialog',
  'canvas',
  'audio',
  'video',
]);
/** Styles with which a page hides text from readers: it is not meant for them, or for prompts alone. */
export const invisibleStyle =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d]))/i;
/** Elements that repeat on every page of a site. */
const boilerplate = new Set(['nav', 'footer', 'aside', 'form']);
const inline = new Set([
  'a',
  'abbr',
  'b',
  'bdi',
  'bdo',
  'cite',
  'code',
  'data',
  'del',
  'dfn',
  'em',
  'font',
  'i',
  'ins',
  'kbd',
  'label',
  'mark',
  'q',
  's',
  'samp',
  'small',
  'span',
  'strong',
  'sub',
  'sup',
  'time',
  'tt',
  'u',
  'var',
  'wbr',
  'img',
  'picture',
  'source',
]);
const cells = new Set(['td', 'th']);
/** Minimum number of characters in `main` to use it as the page. */
const minMainLength = 200;

/**
 * The text of a page without the parts that repeat on every page of a site: the content of `main`, or of the `article` with most
 * of the text, if it is long enough, otherwise everything but navigation, forms, asides and footers.
 *
 * @param html of any size, even if broken; nothing in it is run or fetched
 */
export function parsePageText({ html }: { readonly html: string }): PageText {
  const { title, text } = measurePage(html);
  return { title, text };
}

/** The text of a page, and how large the page is. */
export interface MeasuredPage extends PageText {
  readonly elements: number;
  /** Most elements inside one another. */
  readonly depth: number;
}

/** As `parsePageText`. */
export function measurePage(html: string): MeasuredPage {
  const reader = new PageReader();
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        reader.open(name, attributes);
      },
      onclosetag: (name) => {
        reader.close(name);
      },
      ontext: (piece) => {
        reader.add(piece);
      },
    },
    { decodeEntities: true },
  );
  parser.write(html);
  parser.end();
  reader.flush();
  const blocks = selectBlocks(reader.blocks);
  const title =
    oneLine(reader.title) ||
    (blocks.find(({ mark }) => mark === '# ') ?? blocks.find(({ mark }) => mark.startsWith('#')))?.text ||
    '';
  return { title: oneLine(title), text: joinBlocks(blocks), elements: reader.elements, depth: reader.depth };
}

function selectBlocks(blocks: readonly Block[]): readonly Block[] {
  const own = blocks.filter(({ isBoilerplate }) => !isBoilerplate);
  const main = own.filter(({ isMain }) => isMain);
  if (lengthOf(main) >= minMainLength) return main;
  const articles = new Map<number, Block[]>();
  for (const block of own) {
    const known = articles.get(block.article);
    if (known === undefined) articles.set(block.article, [block]);
    else known.push(block);
  }
  const outside = lengthOf(articles.get(0) ?? []);
  articles.delete(0);
  // Teasers of other pages are articles too: one is the page if most of the text is in it.
  const [longest = []] = [...articles.values()].sort((one, other) => lengthOf(other) - lengthOf(one));
  const others = lengthOf([...articles.values()].flat()) - lengthOf(longest);
  if (lengthOf(longest) >= Math.max(minMainLength, outside, others)) return longest;
  return own.length > 0 ? own : blocks;
}

const lengthOf = (blocks: readonly Block[]): number => blocks.reduce((length, { text }) => length + text.length, 0);

class PageReader {
  readonly blocks: Block[] = [];
  title = '';
  elements = 0;
  depth = 0;
  private text = '';
  private mark = '';
  private isTitle = false;
  private isRow = false;
  /** Whether each open element hides itself. */
  private readonly invisible: boolean[] = [];
  /** Number of open elements of each set. */
  private readonly inside = { hidden: 0, boilerplate: 0, main: 0, article: 0, pre: 0 };
  /** Number of outermost articles so far. */
  private articles = 0;

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'title' && this.title === '') this.isTitle = true;
    const isInvisible = 'hidden' in attributes || invisibleStyle.test(attributes['style'] ?? '');
    this.invisible.push(isInvisible);
    this.elements += 1;
    this.depth = Math.max(this.depth, this.invisible.length);
    if (isInvisible) this.inside.hidden += 1;
    this.count(name, 1);
    if (name === 'br') this.text += '\n';
    else if (cells.has(name)) this.text += this.isRow ? ' | ' : '';
    else if (!inline.has(name)) this.begin(name);
    if (cells.has(name)) this.isRow = true;
    if (name === 'img' && attributes['alt'] && this.inside.hidden === 0) this.text += ` ${attributes['alt']} `;
  }

  close(name: string): void {
    if (name === 'title') this.isTitle = false;
    if (!inline.has(name) && !cells.has(name) && name !== 'br') this.flush();
    this.count(name, -1);
    // The parser closes each element that it has opened, also where the page does not.
    if (this.invisible.pop() === true) this.inside.hidden -= 1;
  }

  add(piece: string): void {
    if (this.isTitle) this.title += piece;
    else if (this.inside.hidden === 0) this.text += this.inside.pre > 0 ? piece : piece.replace(/\s+/g, ' ');
  }

  flush(): void {
    const text = (
      this.inside.pre > 0
        ? this.text.replace(/\n{3,}/g, '\n\n')
        : this.text
            .replace(/[^\S\n]+/g, ' ')
            .replace(/ ?\n ?/g, '\n')
            .replace(/\n{2,}/g, '\n')
    ).trim();
    if (text !== '')
      this.blocks.push({
        mark: this.mark,
        text: this.mark.startsWith('#') ? oneLine(text) : text,
        isMain: this.inside.main > 0,
        article: this.inside.article > 0 ? this.articles : 0,
        isBoilerplate: this.inside.boilerplate > 0,
      });
    this.text = '';
    this.mark = '';
    this.isRow = false;
  }

  private begin(name: string): void {
    // A paragraph at the start of a list item belongs to it.
    const mark = this.text.trim() === '' && this.mark === '- ' && name === 'p' ? this.mark : '';
    this.flush();
    if (/^h[1-6]$/.test(name)) this.mark = `${'#'.repeat(Number(name.charAt(1)))} `;
    else this.mark = name === 'li' ? '- ' : mark;
  }

  private count(name: string, step: 1 | -1): void {
    const { inside } = this;
    if (hidden.has(name)) inside.hidden = Math.max(0, inside.hidden + step);
    if (boilerplate.has(name)) inside.boilerplate = Math.max(0, inside.boilerplate + step);
    if (name === 'main') inside.main = Math.max(0, inside.main + step);
    if (name === 'article') {
      if (step === 1 && inside.article === 0) this.articles += 1;
      inside.article = Math.max(0, inside.article + step);
    }
    if (name === 'pre') inside.pre = Math.max(0, inside.pre + step);
  }
}
