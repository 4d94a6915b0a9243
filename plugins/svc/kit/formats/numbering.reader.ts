import { readXml, type XmlHandler } from './xml.reader.ts';
import type { ZipEntries } from './zip.reader.ts';

/** How one level of a list is numbered. */
interface Level {
  start: number;
  /** `decimal`, `bullet` and so on. */
  format: string;
  /** `%1.%2.` */
  text: string;
}

/** A paragraph's list and its level in it, from 0. */
export interface ListPosition {
  readonly list: string;
  readonly level: number;
}

const deepest = 8;

/** Counts the items of the lists of a Word file. */
export class Numbering {
  private readonly abstracts = new Map<string, Map<number, Level>>();
  /** The numbering that each list has. */
  private readonly lists = new Map<string, string>();
  private readonly counts = new Map<string, number[]>();

  /** The number of the next item, such as `2.1.`; '' where the list has bullets. */
  next({ list, level }: ListPosition): string {
    const abstract = this.lists.get(list) ?? '';
    const levels = this.abstracts.get(abstract);
    const own = levels?.get(level);
    if (levels === undefined || own === undefined || level > deepest) return '';
    // Lists of one numbering count on.
    const counts = this.counts.get(abstract) ?? [];
    this.counts.set(abstract, counts);
    counts.length = Math.min(counts.length, level + 1);
    counts[level] = (counts[level] ?? own.start - 1) + 1;
    if (own.format === 'bullet' || own.format === 'none') return '';
    return own.text.replace(/%([1-9])/g, (_, digit: string) => {
      const at = Number(digit) - 1;
      const start = levels.get(at)?.start ?? 1;
      return formatCount(counts[at] ?? start, levels.get(at)?.format ?? 'decimal');
    });
  }

  async read(zip: ZipEntries, part: string): Promise<void> {
    let abstract = '';
    let list = '';
    let level: Level = { start: 1, format: 'decimal', text: '' };
    const handler: XmlHandler = {
      open: (name, { val = '', abstractNumId = '', numId = '', ilvl = '0' }) => {
        if (name === 'abstractNum') this.abstracts.set((abstract = abstractNumId), new Map());
        else if (name === 'num') list = numId;
        else if (name === 'abstractNumId') this.lists.set(list, val);
        else if (name === 'lvl') {
          level = { start: 1, format: 'decimal', text: '' };
          this.abstracts.get(abstract)?.set(Number(ilvl), level);
        } else if (name === 'start') level.start = Number(val) || 0;
        else if (name === 'numFmt') level.format = val;
        else if (name === 'lvlText') level.text = val;
      },
    };
    await readXml(zip.read(part), handler);
  }
}

function formatCount(count: number, format: string): string {
  if (format === 'lowerLetter' || format === 'upperLetter') {
    const letter = String.fromCharCode(97 + ((Math.max(1, count) - 1) % 26));
    return format === 'upperLetter' ? letter.toUpperCase() : letter;
  }
  if (format === 'lowerRoman') return toRoman(count);
  return format === 'upperRoman' ? toRoman(count).toUpperCase() : String(count);
}

const romans = Object.entries({ c: 100, xc: 90, l: 50, xl: 40, x: 10, ix: 9, v: 5, iv: 4, i: 1 });

function toRoman(count: number): string {
  if (count < 1 || count > 399) return String(count);
  let text = '';
  let left = count;
  for (const [letters, value] of romans) for (; left >= value; left -= value) text += letters;
  return text;
}
