import { Lexer, type Token, type Tokens } from 'marked';
import { h } from './dom.ts';

export interface CodeBlock {
  readonly block: HTMLElement;
  readonly language: string;
  readonly text: string;
}

export interface MarkdownOptions {
  /** Called for each block of code. */
  readonly onCode?: (code: CodeBlock) => void;
  /**
   * Origins whose images are shown. All other images become links: an image is loaded without a click, so its URL could
   * carry what a visitor wrote to another site. `any` is for texts of the administrator. Default: none.
   */
  readonly imageOrigins?: readonly string[] | 'any';
}

const syntax = { gfm: true, breaks: true };

/** The blocks of a text. Headings follow each other without gaps: models often begin with the second or third level. */
function lex(text: string): ReturnType<typeof Lexer.lex> {
  const blocks = Lexer.lex(text, syntax);
  const open: number[] = [];
  for (const block of blocks) {
    if (block.type !== 'heading') continue;
    const heading = block as Tokens.Heading;
    while ((open.at(-1) ?? 0) >= heading.depth) open.pop();
    open.push(heading.depth);
    heading.depth = open.length;
  }
  return blocks;
}

/**
 * Renders Markdown as nodes. They are created from the tokens of the parser: a fixed set of elements, with URLs of a fixed set of
 * schemes. HTML is never parsed, so HTML of a model or a visitor stays text.
 */
export function renderMarkdown(text: string, options: MarkdownOptions = {}): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(...createNodes(lex(text), options));
  return fragment;
}

interface Block {
  readonly raw: string;
  readonly nodes: readonly Node[];
}

/**
 * Renders growing Markdown. Unchanged blocks keep their nodes, so that nothing jumps, selections stay, and the cost does not
 * grow with the text.
 */
export function createMarkdownView(container: HTMLElement, options: MarkdownOptions = {}): (text: string) => void {
  let shown: Block[] = [];
  let links = '{}';
  return (text) => {
    const tokens = lex(text);
    // The target of a reference may follow it.
    const linksNow = JSON.stringify(tokens.links);
    let same = 0;
    while (links === linksNow && same < shown.length && shown[same]?.raw === tokens[same]?.raw) same++;
    links = linksNow;
    for (const { nodes } of shown.slice(same)) for (const node of nodes) node.parentNode?.removeChild(node);
    const added = tokens
      .slice(same)
      .map((token) => ({ raw: token.raw, nodes: createNodes([token], options, container) }));
    shown = [...shown.slice(0, same), ...added];
  };
}

/** The text of Markdown without markup, for screen readers. */
export function plainText(text: string): string {
  return (renderMarkdown(text).textContent ?? '').replace(/\s+/g, ' ').trim();
}

/** Creates the nodes of tokens, directly in `container` if given, because a code block needs a parent for its frame. */
function createNodes(tokens: readonly Token[], options: MarkdownOptions, container?: HTMLElement): Node[] {
  const parent = container ?? document.createDocumentFragment();
  const before = parent.childNodes.length;
  for (const token of tokens) append(parent, token, options);
  return [...parent.childNodes].slice(before);
}

type Known = Token & { readonly tokens?: Token[] | undefined };

function append(parent: Node, token: Known, options: MarkdownOptions): void {
  const inner = (): Node[] => createNodes(token.tokens ?? [], options);
  const add = (node: Node | string): void =>
    void parent.appendChild(typeof node === 'string' ? document.createTextNode(node) : node);
  switch (token.type) {
    case 'paragraph':
      return add(h('p', {}, ...inner()));
    case 'heading':
      // Below the heading of the window.
      return add(h(`h${Math.min(6, (token as Tokens.Heading).depth + 2)}` as 'h3', {}, ...inner()));
    case 'blockquote':
    case 'strong':
    case 'em':
    case 'del':
      return add(h(token.type, {}, ...inner()));
    case 'list':
      return add(createList(token as Tokens.List, options));
    case 'table':
      return add(createTable(token as Tokens.Table, options));
    case 'code':
      return addCode(parent, token as Tokens.Code, options);
    case 'codespan':
      return add(h('code', {}, (token as Tokens.Codespan).text));
    case 'hr':
    case 'br':
      return add(h(token.type));
    case 'link':
      return add(createLink(token as Tokens.Link, inner()));
    case 'image':
      return add(createImage(token as Tokens.Image, options));
    case 'checkbox':
    case 'space':
    case 'def':
      return;
    case 'html':
      return add(/^<br\s*\/?>$/i.test(token.raw.trim()) ? h('br') : token.raw);
    case 'escape':
      return add((token as Tokens.Escape).text);
    default:
      if (token.tokens) for (const node of inner()) add(node);
      else add(decode(String((token as Tokens.Text).text)));
  }
}

function createList({ ordered, start, items }: Tokens.List, options: MarkdownOptions): HTMLElement {
  const entries = items.map((item) =>
    h(
      'li',
      { class: item.task ? 'task' : null },
      item.task ? (item.checked ? '☑ ' : '☐ ') : null,
      ...createNodes(item.tokens, options),
    ),
  );
  return ordered ? h('ol', { start: start === '' || start === 1 ? null : start }, ...entries) : h('ul', {}, ...entries);
}

/** In a scrollable frame that the keyboard can reach. */
function createTable({ header, rows }: Tokens.Table, options: MarkdownOptions): HTMLElement {
  const row = (cells: readonly Tokens.TableCell[], tag: 'th' | 'td'): HTMLElement =>
    h('tr', {}, ...cells.map((cell) => h(tag, { align: cell.align }, ...createNodes(cell.tokens, options))));
  return h(
    'div',
    { class: 'table', tabindex: 0 },
    h('table', {}, h('thead', {}, row(header, 'th')), h('tbody', {}, ...rows.map((cells) => row(cells, 'td')))),
  );
}

function addCode(parent: Node, { text, lang = '' }: Tokens.Code, options: MarkdownOptions): void {
  const block = h('pre', { tabindex: 0 }, h('code', {}, text));
  parent.appendChild(block);
  options.onCode?.({ block, text, language: lang.split(/\s/)[0] ?? '' });
}

function createLink({ href, title }: Tokens.Link, children: Node[]): Node {
  const address = safeUrl(href, ['http:', 'https:', 'mailto:', 'tel:']);
  // Opens in a new tab, without access to this page and without its referrer.
  return address === null
    ? h('span', {}, ...children)
    : h('a', { href: address, title, target: '_blank', rel: 'noopener noreferrer nofollow' }, ...children);
}

function createImage({ href, text, title }: Tokens.Image, { imageOrigins = [] }: MarkdownOptions): Node | string {
  const address = safeUrl(href, ['http:', 'https:']);
  const alt = decode(text);
  if (address === null) return alt;
  if (imageOrigins === 'any' || imageOrigins.includes(new URL(address).origin))
    return h('img', { src: address, alt, title, loading: 'lazy', referrerpolicy: 'no-referrer' });
  const link = { type: 'link', raw: '', href, title, text, tokens: [] } satisfies Tokens.Link;
  return createLink(link, [document.createTextNode(alt || new URL(address).hostname)]);
}

/** The URL as browsers parse it; null for other schemes. */
function safeUrl(written: string, schemes: readonly string[]): string | null {
  try {
    const url = new URL(decode(written), document.baseURI);
    return schemes.includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** Decodes HTML entities as the browser does. What is parsed is never shown and runs nothing. */
function decode(text: string): string {
  return text.replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,30});/gi, (reference) => {
    try {
      return new DOMParser().parseFromString(reference, 'text/html').body.textContent || reference;
    } catch {
      // A page that demands trusted types.
      return reference;
    }
  });
}
