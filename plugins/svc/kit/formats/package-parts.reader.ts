import { readXml, type XmlAttributes } from './xml.reader.ts';
import type { ZipEntries } from './zip.reader.ts';

/** A part that another one of an Office file refers to. */
export interface Relation {
  /** The last part of its type, such as `worksheet`. */
  readonly type: string;
  /** Name of an entry. */
  readonly target: string;
}

const drawingTypes: readonly string[] = ['chart', 'diagramData'];

/** What a part of an Office file refers to, by id. Links out of the file are left out. @param part '' for the file itself */
export async function readRelations(zip: ZipEntries, part: string): Promise<ReadonlyMap<string, Relation>> {
  const slash = part.lastIndexOf('/') + 1;
  const relations = new Map<string, Relation>();
  await readXml(zip.read(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`), {
    open(name, { Id = '', Type = '', Target = '', TargetMode }) {
      if (name !== 'Relationship' || TargetMode === 'External') return;
      relations.set(Id, { type: Type.slice(Type.lastIndexOf('/') + 1), target: resolvePart(part, Target) });
    },
  });
  return relations;
}

/** The targets of one type, in their order. */
export const targetsOf = (relations: ReadonlyMap<string, Relation>, type: string): string[] =>
  [...relations.values()].filter((relation) => relation.type === type).map(({ target }) => target);

/** The name of an entry from a path that is relative to another one. */
export function resolvePart(from: string, path: string): string {
  const parts = path.startsWith('/') ? [] : from.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/** The id of a relation, which has a prefix: `<p:sldId id="256" r:id="rId2"/>`. */
export function relationId(attributes: XmlAttributes): string {
  const name = Object.keys(attributes).find((each) => each.endsWith(':id'));
  return (name && attributes[name]) ?? '';
}

/** Whether an attribute such as `<w:b w:val="0"/>` switches its element on. */
export const isOn = ({ val = 'true' }: XmlAttributes): boolean => !['0', 'false', 'off', 'none'].includes(val);

/** The texts of a drawing, a chart or a diagram: its paragraphs, and the values of each row. */
async function readDrawing(zip: ZipEntries, part: string): Promise<string[]> {
  const lines: string[] = [];
  let text: string | null = null;
  let line = '';
  const endLine = (): void => {
    if (line.trim() !== '') lines.push(line);
    line = '';
  };
  await readXml(zip.read(part), {
    open(name) {
      if (name === 't' || name === 'v') text = '';
    },
    text(piece) {
      if (text !== null) text += piece;
    },
    close(name) {
      if (name === 't') line += text ?? '';
      if (name === 'v') line += ` ${text ?? ''}`;
      if (name === 't' || name === 'v') text = null;
      if (name === 'p' || name === 'strCache' || name === 'numCache') endLine();
    },
  });
  endLine();
  return lines;
}

/** The texts of all charts and diagrams of a part, and with `drawing` those of its drawings and what they have. */
export async function readDrawings(zip: ZipEntries, part: string, types = drawingTypes): Promise<string[]> {
  const lines: string[] = [];
  const relations = await readRelations(zip, part);
  for (const type of types)
    for (const target of new Set(targetsOf(relations, type))) {
      lines.push(...(await readDrawing(zip, target)));
      if (type === 'drawing') lines.push(...(await readDrawings(zip, target)));
    }
  return lines;
}
