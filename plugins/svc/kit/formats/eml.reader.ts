import { DocumentError } from '#plugin-api';
import { parsePageText } from '../page-text.reader.ts';
import { BlockWriter, maxCharacters, oneLine, tooLong } from './text-blocks.ts';

const limits = { maxNestingDepth: 20, maxHeadersSize: 1_000_000 };

interface Address {
  readonly name?: string | undefined;
  readonly address?: string | undefined;
}

/** The text of a message with its subject, names and date. Attachments are named, and not read. @throws DocumentError */
export async function readMessage(bytes: Uint8Array): Promise<{ readonly title: string; readonly text: string }> {
  const { default: PostalMime } = await import('postal-mime');
  const message = await PostalMime.parse(bytes, limits).catch(() => {
    throw new DocumentError('This message is damaged and cannot be read. Save it again.');
  });
  const { subject = '', from, to = [], date = '', text = '', html = '', attachments } = message;
  if (text.length + html.length > maxCharacters) throw tooLong();
  const body = text.trim() === '' ? parsePageText({ html: `<main>${html}</main>` }).text : text;
  const names = attachments.flatMap(({ filename }) => (filename ? [filename] : []));
  const lines = [
    ['From', from ? nameOf(from) : ''],
    ['To', to.map(nameOf).join(', ')],
    ['Date', date],
    ['Attachments', names.join(', ')],
  ].flatMap(([label = '', value = '']) => (value === '' ? [] : [`${label}: ${oneLine(value)}`]));
  const blocks = new BlockWriter();
  blocks.heading(1, subject);
  blocks.paragraph(lines.join('\n'));
  blocks.plain(body.replaceAll(/\r\n?/g, '\n').trim());
  return { title: oneLine(subject), text: blocks.toString() };
}

function nameOf({ name = '', address = '' }: Address): string {
  return name === '' ? address : address === '' ? name : `${name} <${address}>`;
}
