import { Extension, Mark, Node, type Extensions } from '@tiptap/core';
import StarterKit from '@tiptap/starter-kit';
import { plainTags } from './canonical.ts';
import { pageKey, styleAttribute } from './dom.ts';
import { showRaw } from './raw-view.ts';

const blocks = [
  ...['paragraph', 'heading', 'bulletList', 'orderedList', 'listItem', 'blockquote', 'codeBlock', 'horizontalRule'],
];
const imageAttributes = [
  'src',
  'alt',
  'title',
  'width',
  'height',
  'class',
  'id',
  'srcset',
  'sizes',
  'loading',
  'decoding',
];

/** An attribute that is stored as it is, and left out of HTML when it is null. */
const plain = { default: null };

/** Blocks keep the attributes that themes and anchors use. */
const BlockAttributes = Extension.create({
  name: 'blockAttributes',
  addGlobalAttributes: () => [
    {
      types: blocks,
      attributes: Object.fromEntries(
        ['class', 'id', 'dir', 'lang', 'title', styleAttribute].map((name) => [name, { ...plain, keepOnSplit: false }]),
      ),
    },
  ],
});

/** Inline elements without a button: they stay what they are. */
const PlainInline = Mark.create({
  name: 'plainInline',
  priority: 1001,
  excludes: '',
  addAttributes: () => ({
    tag: { default: 'span', rendered: false, parseHTML: (element: HTMLElement) => element.localName },
    attributes: { default: {}, rendered: false, parseHTML: attributesOf },
  }),
  parseHTML: () => [...plainTags, 'a:not([href])'].map((tag) => ({ tag })),
  renderHTML: ({ mark }) => [String(mark.attrs['tag']), mark.attrs['attributes'] as Record<string, string>, 0],
});

function attributesOf(element: Element): Record<string, string> {
  return Object.fromEntries(
    [...element.attributes]
      .filter(({ name }) => name !== 'style' && !name.startsWith('on'))
      .map(({ name, value }) => [name, value]),
  );
}

const Image = Node.create({
  name: 'image',
  inline: true,
  group: 'inline',
  draggable: true,
  addAttributes: () => Object.fromEntries(imageAttributes.map((name) => [name, plain])),
  parseHTML: () => [
    { tag: 'img[src]', getAttrs: (element) => (isImageUrl(element.getAttribute('src')) ? null : false) },
  ],
  renderHTML: ({ HTMLAttributes }) => ['img', HTMLAttributes],
});

/** HTTP addresses and paths. No embedded data, which would make the text megabytes long. */
export function isImageUrl(url: string | null): boolean {
  return url !== null && /^\s*(?:https?:|[^a-z]|[a-z0-9._-]+(?:[^:a-z0-9._-]|$))/i.test(url);
}

/** HTML that the editor does not know, such as tables, frames and block comments. It is shown as its source. */
// The key keeps pasted HTML from becoming one without a check.
const Raw = Node.create({
  name: 'raw',
  group: 'top',
  atom: true,
  draggable: true,
  addAttributes: () => ({
    html: {
      default: '',
      parseHTML: (element: HTMLElement) => element.dataset['raw'] ?? '',
      renderHTML: ({ html }) => ({ 'data-raw': html as string, 'data-raw-key': pageKey }),
    },
  }),
  parseHTML: () => [{ tag: `div[data-raw-key="${pageKey}"]` }],
  renderHTML: ({ HTMLAttributes }) => ['div', HTMLAttributes],
  addNodeView: () => showRaw,
});

/** The element that becomes a raw node where HTML is pasted. The caller has checked its HTML. */
export function asRaw(html: string): HTMLElement {
  const element = document.createElement('div');
  element.dataset['rawKey'] = pageKey;
  element.dataset['raw'] = html;
  return element;
}

const Document = Node.create({ name: 'doc', topNode: true, content: '(block | top)+' });

const Kit = StarterKit.extend({
  addExtensions() {
    return (this.parent?.() ?? []).map((extension) => {
      // Code may be bold or a link.
      if (extension.name === 'code') return extension.extend({ excludes: '' });
      if (extension.name !== 'link') return extension;
      return (extension as Mark).extend({
        addAttributes() {
          return { ...this.parent?.(), id: plain, download: plain, hreflang: plain };
        },
      });
    });
  },
}).configure({
  document: false,
  trailingNode: false,
  link: {
    openOnClick: false,
    autolink: false,
    defaultProtocol: 'https',
    HTMLAttributes: { target: null, rel: null, class: null },
    isAllowedUri: (url) => isSafeUrl(url),
  },
});

/** Schemes that the server accepts in links, and paths. */
export function isSafeUrl(url: string): boolean {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url.replace(/[\u0000-\u0020\u007f-\u00a0]/g, ''));
  return scheme === null || /^(?:https?|mailto|tel)$/i.test(scheme[1] ?? '');
}

export const extensions: Extensions = [Document, Kit, PlainInline, Image, Raw, BlockAttributes];
