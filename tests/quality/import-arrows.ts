import { readImports } from './cruise.ts';

export interface Import {
  readonly from: string;
  readonly to: string;
}

/** A folder of a diagram: every file whose path begins with `path` and with no longer path of the diagram. */
export interface DiagramFolder {
  readonly path: string;
  readonly label: string;
}

/** The folders directly below a folder, named without it. */
export function foldersBelow(parent: string, files: readonly Import[]): readonly DiagramFolder[] {
  const names = files.flatMap(({ from, to }) =>
    [from, to].flatMap((file) => {
      const [name, ...rest] = file.startsWith(parent) ? file.slice(parent.length).split('/') : [];
      return name !== undefined && rest.length > 0 ? [name] : [];
    }),
  );
  return [...new Set(names)].sort().map((name) => ({ path: `${parent}${name}/`, label: name }));
}

/** Every import between two files of host and plugins, types included. */
export async function readArrows(): Promise<readonly Import[]> {
  const { modules } = await readImports();
  return modules.flatMap(({ source, dependencies }) =>
    dependencies.map(({ resolved }) => ({ from: source, to: resolved })),
  );
}

/** A Mermaid diagram with one arrow from each folder to every folder that it imports. Folders without arrows are left out. */
export function renderDiagram(folders: readonly DiagramFolder[], imports: readonly Import[]): string {
  const longestFirst = [...folders].sort((left, right) => right.path.length - left.path.length);
  const folderOf = (file: string): string | undefined => longestFirst.find(({ path }) => file.startsWith(path))?.path;
  const sources = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [source, target] = [folderOf(from), folderOf(to)];
    if (source === undefined || target === undefined || source === target) continue;
    sources.set(source, (sources.get(source) ?? new Set()).add(target));
  }
  const ids = new Map(folders.map(({ path }) => [path, path.replace(/\/$/, '').replace(/\W/g, '_')]));
  const targets = new Set([...sources.values()].flatMap((set) => [...set]));
  const connected = folders.filter(({ path }) => sources.has(path) || targets.has(path));
  const nodes = connected.map(({ path, label }) => `  ${ids.get(path) ?? ''}["${label}"]`);
  return ['```mermaid', 'flowchart TD', ...nodes, ...arrows(folders, { sources, ids }), '```'].join('\n');
}

/** Folders that import the same folders share one line. */
function arrows(
  folders: readonly DiagramFolder[],
  { sources, ids }: { sources: ReadonlyMap<string, ReadonlySet<string>>; ids: ReadonlyMap<string, string> },
): readonly string[] {
  const idsOf = (paths: Iterable<string>): string => {
    const wanted = new Set(paths);
    return folders.flatMap(({ path }) => (wanted.has(path) ? [ids.get(path) ?? ''] : [])).join(' & ');
  };
  const groups = new Map<string, string[]>();
  for (const { path } of folders) {
    const targets = idsOf(sources.get(path) ?? []);
    if (targets !== '') groups.set(targets, [...(groups.get(targets) ?? []), path]);
  }
  return [...groups].map(([targets, paths]) => `  ${idsOf(paths)} --> ${targets}`);
}
