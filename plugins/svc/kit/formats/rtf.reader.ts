import { DocumentError } from '#plugin-api';
import { characters, encodingOfCharset, encodingOfCodePage, readGroups, unreadGroups } from './rtf-groups.ts';
import { TableReader } from './table-reader.ts';
import { BlockWriter } from './text-blocks.ts';

const maxDepth = 1_000;

export const isRtf = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(0, 5)).equals(Buffer.from('{\\rtf'));

/** What ends with the group that sets it. */
interface Group {
  readonly isUnread: boolean;
  readonly isFonts: boolean;
  readonly isHidden: boolean;
  /** Characters after a Unicode character, for programs that do not know it. */
  readonly alternatives: number;
  readonly encoding: string;
}

/**
 * The text of an RTF file: paragraphs, tables, and headings by their outline level. Hidden and deleted text, codes of fields and
 * embedded objects are left out.
 *
 * @throws DocumentError for more than 1,000 groups inside one another
 */
export function readRtf(bytes: Uint8Array): string {
  return new RtfReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')).read();
}

class RtfReader {
  private readonly source: string;
  private readonly blocks = new BlockWriter();
  private readonly tables = new TableReader(this.blocks);
  private readonly groups: Group[] = [];
  private group: Group = {
    isUnread: false,
    isFonts: false,
    isHidden: false,
    alternatives: 1,
    encoding: 'windows-1252',
  };
  private readonly fonts = new Map<number, string>();
  private font = 0;
  private fileEncoding = 'windows-1252';
  /** Bytes that are not decoded yet: a character may have two. */
  private bytes: number[] = [];
  private text = '';
  private skipped = 0;
  private level = 0;
  private isCell = false;
  private isRowOpen = false;
  private position = 0;

  constructor(source: string) {
    this.source = source;
  }

  read(): string {
    const { source } = this;
    while (this.position < source.length) {
      const character = source.charAt(this.position);
      this.position += 1;
      if (character === '\\') this.readControl();
      else if (character === '{') this.open();
      else if (character === '}') this.close();
      else if (character !== '\n' && character !== '\r') this.addByte(character.charCodeAt(0));
    }
    this.endParagraph();
    if (this.tables.isOpen) this.tables.close();
    return this.blocks.toString();
  }

  private open(): void {
    this.groups.push(this.group);
    if (this.groups.length > maxDepth)
      throw new DocumentError('The content of this file is nested too deeply. Save it in a simpler form.');
  }

  private close(): void {
    this.decode();
    this.group = this.groups.pop() ?? this.group;
  }

  private set(change: Partial<Group>): void {
    this.decode();
    this.group = { ...this.group, ...change };
  }

  private readControl(): void {
    const symbol = this.source.charAt(this.position);
    const pattern = /([a-zA-Z]{1,32})(-?\d{1,10})? ?/y;
    pattern.lastIndex = this.position;
    const [whole = symbol, word, number] = pattern.exec(this.source) ?? [];
    this.position += whole.length;
    if (word !== undefined) return this.readWord(word, number === undefined ? null : Number(number));
    if (symbol === "'") {
      this.addByte(Number.parseInt(this.source.slice(this.position, this.position + 2), 16) || 0x20);
      this.position += 2;
    } else if (symbol === '*') this.readOptionalGroup();
    else if (symbol === '\n' || symbol === '\r') this.endParagraph();
    else if (symbol === '~') this.add(' ');
    else if (symbol === '_') this.add('-');
    else if ('\\{}'.includes(symbol)) this.addByte(symbol.charCodeAt(0));
  }

  /** A group that programs skip if they do not know it. */
  private readOptionalGroup(): void {
    const pattern = /\s{0,9}\\([a-z]{1,32})/y;
    pattern.lastIndex = this.position;
    if (!readGroups.has(pattern.exec(this.source)?.[1] ?? '')) this.set({ isUnread: true });
  }

  private readWord(word: string, number: number | null): void {
    if (word === 'bin') this.position += Math.max(0, number ?? 0);
    else if (this.group.isFonts) this.readFont(word, number ?? 0);
    else if (word === 'fonttbl') this.set({ isUnread: true, isFonts: true });
    else if (unreadGroups.has(word)) this.set({ isUnread: true });
    else if (this.group.isUnread) return;
    else if (word === 'ansicpg' || word === 'mac') {
      this.fileEncoding = word === 'mac' ? 'macintosh' : encodingOfCodePage(number ?? 0);
      this.set({ encoding: this.fileEncoding });
    } else if (word === 'uc') this.set({ alternatives: Math.max(0, number ?? 1) });
    else if (word === 'u') this.addUnicode(number ?? 0);
    else if (word === 'f') this.set({ encoding: this.fonts.get(number ?? 0) ?? this.fileEncoding });
    else if (word === 'v' || word === 'deleted') this.set({ isHidden: number !== 0 });
    else if (word === 'plain') this.set({ isHidden: false });
    else if (Object.hasOwn(characters, word)) this.add(characters[word] ?? '');
    else this.readLayout(word, number ?? 0);
  }

  private readFont(word: string, number: number): void {
    if (word === 'f') this.font = number;
    const encoding = word === 'fcharset' ? encodingOfCharset(number) : undefined;
    if (encoding !== undefined) this.fonts.set(this.font, encoding);
  }

  private readLayout(word: string, number: number): void {
    if (word === 'par' || word === 'sect' || word === 'page') this.endParagraph();
    else if (word === 'pard') [this.isCell, this.level] = [false, 0];
    else if (word === 'intbl') this.isCell = true;
    else if (word === 'outlinelevel') this.level = number < 9 ? number + 1 : 0;
    else if (word === 'cell') this.endCell();
    else if (word === 'row') this.isRowOpen = false;
  }

  private addByte(byte: number): void {
    if (this.skipped > 0) this.skipped -= 1;
    else if (!this.group.isUnread && !this.group.isHidden) this.bytes.push(byte);
  }

  private addUnicode(code: number): void {
    this.add(String.fromCharCode(code < 0 ? code + 65_536 : code));
    this.skipped = this.group.alternatives;
  }

  private add(text: string): void {
    this.decode();
    this.skipped = 0;
    if (!this.group.isUnread && !this.group.isHidden) this.text += text;
  }

  private decode(): void {
    if (this.bytes.length === 0) return;
    this.text += new TextDecoder(this.group.encoding).decode(Uint8Array.from(this.bytes));
    this.bytes = [];
  }

  private endCell(): void {
    this.decode();
    if (!this.tables.isOpen) this.tables.open();
    if (!this.isRowOpen) this.tables.row();
    this.isRowOpen = true;
    this.tables.cell();
    this.tables.add(this.text);
    this.text = '';
  }

  private endParagraph(): void {
    this.decode();
    if (this.isCell) return void (this.text += '\n');
    if (this.tables.isOpen) this.tables.close();
    this.isRowOpen = false;
    if (this.level > 0) this.blocks.heading(this.level, this.text);
    else this.blocks.paragraph(this.text);
    this.text = '';
  }
}
