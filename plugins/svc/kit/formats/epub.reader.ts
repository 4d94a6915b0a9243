import { DocumentError } from '#plugin-api';
import { parsePageText } from '../page-text.reader.ts';
import { resolvePart } from './package-parts.reader.ts';
import { BlockWriter, damaged, maxCharacters, oneLine, tooLong } from './text-blocks.ts';
import { readXml } from './xml.reader.ts';
import type { ZipEntries } from './zip.reader.ts';

interface Book {
  readonly title: string;
  /** Names of the entries with its chapters, in the order of reading. */
  readonly chapters: readonly string[];
}

/** The text of a book in the order of reading. @throws DocumentError if it is protected or damaged */
export async function readEpub(zip: ZipEntries): Promise<{ readonly title: string; readonly text: string }> {
  let root = '';
  await readXml(zip.read('META-INF/container.xml'), {
    open(name, attributes) {
      if (name === 'rootfile') root ||= attributes['full-path'] ?? '';
    },
  });
  if (!zip.has(root)) throw damaged();
  const { title, chapters } = await readBook(zip, root);
  const locked = await readLockedEntries(zip);
  const blocks = new BlockWriter();
  for (const name of chapters) {
    if (locked.has(name))
      throw new DocumentError('This book is protected against copying. Choose one without protection.');
    const html = await readWhole(zip, name);
    blocks.plain(parsePageText({ html: `<main>${html}</main>` }).text);
  }
  return { title, text: blocks.toString() };
}

async function readBook(zip: ZipEntries, root: string): Promise<Book> {
  const parts = new Map<string, string>();
  const chapters = new Set<string>();
  let title = '';
  let isTitle = false;
  await readXml(zip.read(root), {
    open(name, { id = '', href = '', idref = '', 'media-type': type = '' }) {
      if (name === 'title') isTitle = title === '';
      if (name === 'item' && /html|xml$/.test(type)) parts.set(id, resolvePart(root, decodePath(href)));
      const chapter = name === 'itemref' ? parts.get(idref) : undefined;
      if (chapter !== undefined) chapters.add(chapter);
    },
    text(piece) {
      if (isTitle) title += piece;
    },
    close(name) {
      if (name === 'title') isTitle = false;
    },
  });
  return { title: oneLine(title), chapters: [...chapters] };
}

/** Names of the entries that are encrypted. */
async function readLockedEntries(zip: ZipEntries): Promise<ReadonlySet<string>> {
  const locked = new Set<string>();
  await readXml(zip.read('META-INF/encryption.xml'), {
    open(name, { URI = '' }) {
      if (name === 'CipherReference') locked.add(resolvePart('', decodePath(URI)));
    },
  });
  return locked;
}

async function readWhole(zip: ZipEntries, name: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of zip.read(name)) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxCharacters) throw tooLong();
  }
  return text;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
