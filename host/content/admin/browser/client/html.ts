import { DOMParser, DOMSerializer, type Node as DocumentNode, type Schema } from '@tiptap/pm/model';
import { addParagraphs } from '../../../html/paragraphs.ts';
import { createScanner } from '../../../shortcodes/scanner.ts';
import { canonical, isBlank, isInline, tightParagraph } from './canonical.ts';
import { parse, unhide } from './dom.ts';

export interface ReadHtml {
  readonly doc: DocumentNode;
  /** Why the editor must not change this HTML: a sentence. Null: it stores it with the same meaning. */
  readonly problem: string | null;
}

/**
 * Reads HTML, or plain text of old posts, for the editor. A part that the schema cannot store becomes a `raw` node with its
 * source. Compares the result with the source, so that nothing is lost without notice.
 */
export function readHtml(schema: Schema, source: string): ReadHtml {
  const html = addParagraphs(source, createScanner(shortcodesIn(source)));
  const content = parse(html);
  const problem = hasSameTags(html, content)
    ? null
    : __(
        'This text contains HTML with missing or misplaced tags, which the visual editor would change. It is shown as HTML.',
      );
  wrapText(content);
  const nodes = [...content.childNodes].filter((node) => !isBlank(node)).map((node) => readBlock(schema, node));
  const doc = schema.node('doc', null, nodes.length === 0 ? schema.node('paragraph') : nodes.flat());
  if (problem !== null) return { doc, problem };
  if (canonical(parse(writeHtml(doc))) !== canonical(content))
    return {
      doc,
      problem: __('This text contains HTML that the visual editor would change. It is shown as HTML.'),
    };
  const isEditable = doc.children.some((node) => !isRaw(node));
  return {
    doc,
    problem: isEditable
      ? null
      : __('This text consists of HTML that the visual editor cannot change. It is shown as HTML.'),
  };
}

/** HTML for the form: a block a line, without what the editor needs for itself. */
export function writeHtml(doc: DocumentNode): string {
  const serializer = DOMSerializer.fromSchema(doc.type.schema);
  const nodes = [...doc.children];
  while (isEmptyParagraph(nodes.at(-1))) nodes.pop();
  return nodes
    .map((node) => {
      if (isRaw(node)) return String(node.attrs['html']);
      const holder = document.createElement('div');
      holder.append(serializer.serializeNode(node));
      for (const item of holder.querySelectorAll('li')) tightParagraph(item)?.replaceWith(...contentsOf(item));
      return unhide(holder.innerHTML);
    })
    .join('\n');
}

function contentsOf(item: Element): readonly Node[] {
  return [...(tightParagraph(item)?.childNodes ?? [])];
}

function isRaw(node: DocumentNode): boolean {
  return node.type.name === 'raw';
}

function isEmptyParagraph(node: DocumentNode | undefined): boolean {
  return node?.type.name === 'paragraph' && node.childCount === 0;
}

/** The names that look like shortcodes: whether they are registered does not matter here. */
function shortcodesIn(source: string): string[] {
  return [...new Set([...source.matchAll(/\[([\w-]+)/g)].map(([, name = '']) => name))];
}

const voidTags = new Set([
  'area',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
  'track',
  'wbr',
]);
/** Added by browsers where they may be left out. */
const addedTags = new Set(['tbody', 'colgroup']);
const rawText = /(<(script|style|textarea|xmp)\b[^>]*>)[\s\S]*?(<\/\2\s*>)/gi;

/** Browsers drop misplaced tags and add missing ones. Either changes the number of elements. */
function hasSameTags(html: string, content: HTMLElement): boolean {
  const bare = html.replace(/<!--[\s\S]*?-->/g, '').replace(rawText, '$1$3');
  const counts = new Map<string, number>();
  const count = (name: string, by: number): void => void counts.set(name, (counts.get(name) ?? 0) + by);
  const closed = new Map<string, number>();
  for (const [, slash, name = ''] of bare.matchAll(/<(\/?)([a-z][^\s/>]*)/gi)) {
    const tag = name.toLowerCase();
    if (slash === '') count(tag, 1);
    else if (!voidTags.has(tag)) closed.set(tag, (closed.get(tag) ?? 0) + 1);
  }
  if ([...closed].some(([name, times]) => times > (counts.get(name) ?? 0))) return false;
  for (const element of content.querySelectorAll('*')) count(element.localName.toLowerCase(), -1);
  return [...counts].every(([name, rest]) => rest === 0 || (rest < 0 && addedTags.has(name)));
}

/** Text between blocks becomes paragraphs, which blank lines separate. */
function wrapText(content: HTMLElement): void {
  let paragraph: HTMLParagraphElement | null = null;
  for (const node of [...content.childNodes]) {
    if (!isInline(node) || (paragraph === null && isBlank(node))) {
      paragraph = null;
      continue;
    }
    const parts = node.nodeType === Node.TEXT_NODE ? (node.textContent ?? '').split(/\n[\t ]*\n/) : [node];
    for (const [index, part] of parts.entries()) {
      if (index > 0) paragraph = null;
      if (typeof part === 'string' && part.trim() === '' && paragraph === null) continue;
      if (paragraph === null) {
        paragraph = content.ownerDocument.createElement('p');
        node.before(paragraph);
      }
      paragraph.append(part);
    }
    if (node.parentNode === content) node.remove();
  }
}

/** The nodes of a block, or a raw node if they would not mean the same. */
function readBlock(schema: Schema, node: Node): DocumentNode[] {
  const raw = [schema.node('raw', { html: sourceOf(node) })];
  if (!(node instanceof Element)) return raw;
  // Not in this document, whose content security policy would report styles.
  const holder = node.ownerDocument.createElement('div');
  holder.append(node.cloneNode(true));
  const read = DOMParser.fromSchema(schema).parse(holder);
  if (read.children.some(isRaw)) return raw;
  const written = parse(writeHtml(read));
  return canonical(written) === canonical(holder) ? [...read.children] : raw;
}

function sourceOf(node: Node): string {
  if (node instanceof Element) return unhide(node.outerHTML);
  return `<!--${node.textContent ?? ''}-->`;
}
