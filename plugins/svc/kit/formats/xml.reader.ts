import { Parser } from 'htmlparser2';
import { DocumentError } from '#plugin-api';

/** Attributes by their name, and by their name without its prefix where no other one has it. */
export type XmlAttributes = Readonly<Record<string, string>>;

/** What a reader of XML is called for. Names have no prefix: `w:p` is `p`. */
export interface XmlHandler {
  open?(name: string, attributes: XmlAttributes): void;
  close?(name: string): void;
  text?(text: string): void;
}

const maxDepth = 500;

/**
 * Reads XML as it comes. Entities other than the five of XML are text: declarations of a document type have no effect, so nothing
 * is fetched or expanded.
 *
 * @throws DocumentError for more than 500 elements inside one another
 */
export async function readXml(chunks: AsyncIterable<Uint8Array>, handler: XmlHandler): Promise<void> {
  let depth = 0;
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        depth += 1;
        if (depth > maxDepth)
          throw new DocumentError('The content of this file is nested too deeply. Save it in a simpler form.');
        handler.open?.(localName(name), localNames(attributes));
      },
      onclosetag: (name) => {
        depth -= 1;
        handler.close?.(localName(name));
      },
      ontext: (text) => handler.text?.(text),
    },
    { xmlMode: true, decodeEntities: true },
  );
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  for await (const chunk of chunks) {
    decoder ??= new TextDecoder(encodingOf(chunk));
    parser.write(decoder.decode(chunk, { stream: true }));
  }
  parser.end();
}

function encodingOf([first, second]: Uint8Array): string {
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c) ? 'utf-16be' : 'utf-8';
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

function localNames(attributes: Readonly<Record<string, string>>): XmlAttributes {
  const names = Object.keys(attributes);
  if (!names.some((name) => name.includes(':'))) return attributes;
  const local: Record<string, string> = { ...attributes };
  for (const name of names) local[localName(name)] ??= attributes[name] ?? '';
  return local;
}
