import { readXml, type XmlHandler } from './xml.reader.ts';
import type { ZipEntries } from './zip.reader.ts';

/** What the paragraphs of a style have. */
export interface Style {
  /** Level of a heading from 1; 0: none. */
  heading: number;
  /** '' for none. */
  list: string;
  /** In its list, from 0. */
  level: number;
  parent: string;
}

const noStyle: Style = { heading: 0, list: '', level: 0, parent: '' };

/** The styles of a Word file by their id. */
export async function readStyles(zip: ZipEntries, parts: readonly string[]): Promise<ReadonlyMap<string, Style>> {
  const styles = new Map<string, Style>();
  let style: Style = { ...noStyle };
  const handler: XmlHandler = {
    open(name, { styleId = '', val = '' }) {
      if (name === 'style') styles.set(styleId, (style = { ...noStyle }));
      else if (name === 'outlineLvl') style.heading ||= Number(val) < 9 ? Number(val) + 1 : 0;
      else if (name === 'basedOn') style.parent = val;
      else if (name === 'numId') style.list = val;
      else if (name === 'ilvl') style.level = Number(val);
      const heading = name === 'name' ? /^(?:heading (\d)|title)$/i.exec(val) : null;
      if (heading) style.heading = Number(heading[1] ?? 1);
    },
  };
  for (const part of parts) await readXml(zip.read(part), handler);
  for (const each of styles.values()) {
    const parent = styles.get(each.parent);
    each.heading ||= parent?.heading ?? 0;
    if (each.list === '' && parent) [each.list, each.level] = [parent.list, each.level || parent.level];
  }
  return styles;
}
