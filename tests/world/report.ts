import { share, type Row } from './measure.ts';

/** Percent by kind and name of the figure. */
export type Floors = Readonly<Record<string, Readonly<Record<string, number>>>>;

const shownFaults = 10;
const width = 110;

/** The figures of a kind as a table, and its first faults. */
export function report(title: string, rows: readonly Row[], floors: Floors[string] = {}): string {
  const longest = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.map((row) => {
    const floor = floors[row.name];
    const figures = `${row.right} of ${row.of}`.padStart(14);
    const limit = floor === undefined ? '' : `  floor ${floor.toFixed(2)}${share(row) < floor ? '  MISSED' : ''}`;
    return `  ${row.name.padEnd(longest)} ${figures} ${share(row).toFixed(2).padStart(7)} %${limit}`;
  });
  const faults = rows.flatMap(({ name, faults: found }) =>
    found.map(({ id, reason }) => `  ${id} (${name}): ${reason.replace(/\s+/g, ' ').slice(0, 2 * width)}`),
  );
  const first = faults.length === 0 ? [] : ['  First faults:', ...spread(faults, shownFaults)];
  return [`\n${title}`, ...lines, ...first].join('\n');
}

/** Up to `count` of the texts, from all over the list, so that not all come from its first figure. */
function spread(texts: readonly string[], count: number): string[] {
  const step = Math.max(1, texts.length / count);
  return Array.from({ length: Math.min(count, texts.length) }, (_, index) => texts[Math.floor(index * step)] ?? '');
}

/** The figures below their floors, and the floors of figures that were not measured. */
export function findMissed(kind: string, rows: readonly Row[], floors: Floors): string[] {
  const measured = new Map(rows.map((row) => [row.name, share(row)]));
  return Object.entries(floors[kind] ?? {}).flatMap(([name, floor]) => {
    const figure = measured.get(name);
    if (figure === undefined) return [`${kind}, ${name}: not measured, its floor is ${floor.toFixed(2)} %.`];
    return figure < floor ? [`${kind}, ${name}: ${figure.toFixed(2)} %, its floor is ${floor.toFixed(2)} %.`] : [];
  });
}

/** The floors after a run: each rises to the figure, and none falls. */
export function raiseFloors(kind: string, rows: readonly Row[], floors: Floors): Floors {
  const raised = Object.fromEntries(
    rows.map((row) => [row.name, Math.max(share(row), floors[kind]?.[row.name] ?? 0)] as const),
  );
  return { ...floors, [kind]: { ...floors[kind], ...raised } };
}
