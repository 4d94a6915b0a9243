/** Inline elements that the editor stores as they are, with their attributes. */
export const plainTags = [
  ...['abbr', 'bdo', 'cite', 'del', 'dfn', 'ins', 'kbd', 'mark', 'q', 'samp', 'small', 'span', 'sub', 'sup', 'time'],
  ...['tt', 'var'],
];

/** Different elements with the same meaning. */
const synonyms: Readonly<Record<string, string>> = { b: 'strong', i: 'em', strike: 's' };
const markTags = new Set(['strong', 'em', 's', 'u', 'code', 'a', ...plainTags]);

export function tagOf(element: Element): string {
  return synonyms[element.localName] ?? element.localName;
}

export function isInline(node: Node): boolean {
  if (node.nodeType === Node.TEXT_NODE) return true;
  return node instanceof Element && (markTags.has(tagOf(node)) || node.localName === 'br' || node.localName === 'img');
}

/**
 * The paragraph that a list item needs in the editor and not in HTML: its first child, without attributes, followed by lists
 * alone. Null: the paragraphs of this item have a meaning.
 */
export function tightParagraph(item: Element): Element | null {
  const [first, ...others] = [...item.childNodes].filter((node) => !isBlank(node));
  if (!(first instanceof HTMLParagraphElement) || first.attributes.length > 0) return null;
  return others.every((node) => node instanceof HTMLUListElement || node instanceof HTMLOListElement) ? first : null;
}

export function isBlank(node: Node): boolean {
  return node.nodeType === Node.TEXT_NODE && /^[ \t\n\r\f]*$/.test(node.textContent ?? '');
}

interface Run {
  readonly marks: string;
  text: string;
}

type Token = string | Run;

/**
 * The meaning of HTML as text: the same for two trees that differ in nothing but white space, the order of attributes, the
 * nesting of inline elements, `b` and `strong` and their kin, and the paragraph inside of a simple list item.
 */
export function canonical(root: ParentNode): string {
  const tokens: Token[] = [];
  let isAtEdge = true;

  function edge(): void {
    for (let last = tokens.at(-1); typeof last === 'object'; last = tokens.at(-1)) {
      last.text = last.text.replace(/ $/, '');
      if (last.text !== '') break;
      tokens.pop();
    }
    isAtEdge = true;
  }
  function addText(value: string, marks: readonly string[], isVerbatim: boolean): void {
    let text = isVerbatim ? value : value.replace(/[ \t\n\r\f]+/g, ' ');
    const last = tokens.at(-1);
    const followsSpace = isAtEdge || (typeof last === 'object' && last.text.endsWith(' '));
    if (!isVerbatim && followsSpace) text = text.replace(/^ /, '');
    if (text === '') return;
    const key = [...new Set(marks)].sort().join('');
    if (typeof last === 'object' && last.marks === key) last.text += text;
    else tokens.push({ marks: key, text });
    isAtEdge = false;
  }
  function addElement(element: Element, marks: readonly string[], isVerbatim: boolean): void {
    const tag = tagOf(element);
    if (markTags.has(tag) && !(tag === 'code' && isVerbatim)) {
      addAll(element.childNodes, [...marks, nameOf(element)], isVerbatim);
    } else if (tag === 'br') {
      edge();
      tokens.push('<br>');
    } else if (tag === 'img') {
      tokens.push(`${[...new Set(marks)].sort().join('')}${nameOf(element)}`);
      isAtEdge = false;
    } else addBlock(element, tag, isVerbatim || tag === 'pre');
  }
  function addBlock(element: Element, tag: string, isVerbatim: boolean): void {
    edge();
    tokens.push(nameOf(element));
    const tight = tag === 'li' ? tightParagraph(element) : null;
    const needsParagraph =
      tag === 'blockquote' && [...element.childNodes].some((node) => isInline(node) && !isBlank(node));
    if (needsParagraph) tokens.push('<p>');
    for (const child of element.childNodes) addAll(child === tight ? child.childNodes : [child], [], isVerbatim);
    edge();
    if (needsParagraph) tokens.push('</p>');
    tokens.push(`</${tag}>`);
  }
  function addAll(nodes: Iterable<Node>, marks: readonly string[], isVerbatim: boolean): void {
    for (const node of nodes) {
      if (node.nodeType === Node.TEXT_NODE) addText(node.textContent ?? '', marks, isVerbatim);
      else if (node instanceof Element) addElement(node, marks, isVerbatim);
      else tokens.push(`<!--${node.textContent ?? ''}-->`);
    }
  }

  addAll(root.childNodes, [], false);
  edge();
  return JSON.stringify(tokens);
}

function nameOf(element: Element): string {
  const attributes = [...element.attributes].map(({ name, value }) => ` ${name}=${JSON.stringify(value)}`).sort();
  return `<${tagOf(element)}${attributes.join('')}>`;
}
