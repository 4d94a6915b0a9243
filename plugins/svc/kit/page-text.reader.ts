import { Parser } from 'htmlparser2';

/** The text of a page. */
export interface PageText {
  /** One line; '' without a title. */
  readonly title: string;
  /** Plain text. Headings begin with `#` to `######`, list items with `- `; an empty line separates blocks. */
  readonly text: string;
}

interface Block {
  /** `#` to `######`, `- ` or nothing. */
  readonly mark: string;
  readonly text: string;
  /** Inside `main` or `article`. */
  readonly isMain: boolean;
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
 * The text of a page without the parts that repeat on every page of a site: the content of `main` or `article` if it is long
 * enough, otherwise everything but navigation, forms, asides and footers.
 *
 * @param html of any size, even if broken; nothing in it is run or fetched
 */
export function parsePageText({ html }: { readonly html: string }): PageText {
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
  return { title: oneLine(title), text: joinBlocks(blocks) };
}

function selectBlocks(blocks: readonly Block[]): readonly Block[] {
  const own = blocks.filter(({ isBoilerplate }) => !isBoilerplate);
  const main = own.filter(({ isMain }) => isMain);
  if (main.reduce((length, { text }) => length + text.length, 0) >= minMainLength) return main;
  return own.length > 0 ? own : blocks;
}

class PageReader {
  readonly blocks: Block[] = [];
  title = '';
  private text = '';
  private mark = '';
  private isTitle = false;
  private isRow = false;
  /** Number of open elements of each set. */
  private readonly inside = { hidden: 0, boilerplate: 0, main: 0, pre: 0 };

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'title' && this.title === '') this.isTitle = true;
    this.count(name, 1);
    if (name === 'br') this.text += '\n';
    else if (cells.has(name)) this.text += this.isRow ? ' | ' : '';
    else if (!inline.has(name)) this.begin(name);
    if (cells.has(name)) this.isRow = true;
    if (name === 'img' && attributes['alt']) this.text += ` ${attributes['alt']} `;
  }

  close(name: string): void {
    if (name === 'title') this.isTitle = false;
    if (!inline.has(name) && !cells.has(name) && name !== 'br') this.flush();
    this.count(name, -1);
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
    if (name === 'main' || name === 'article') inside.main = Math.max(0, inside.main + step);
    if (name === 'pre') inside.pre = Math.max(0, inside.pre + step);
  }
}

/** Joins blocks with an empty line, and list items with a line break. */
function joinBlocks(blocks: readonly Block[]): string {
  let text = '';
  let before: Block | null = null;
  for (const block of blocks) {
    if (before !== null) text += before.mark === '- ' && block.mark === '- ' ? '\n' : '\n\n';
    text += block.mark + block.text;
    before = block;
  }
  return text;
}

function oneLine(text: string): string {
  return text.replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim();
}
