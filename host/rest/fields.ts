import { isPlainObject, parseList } from './schema/values.ts';

/** Wanted members as a tree: `id,content.raw` -> `{id: true, content: {raw: true}}`. */
type FieldTree = Map<string, FieldTree | true>;

/**
 * Keeps the members named by `_fields`: a comma list or an array, with dots for members of members. Lists are
 * filtered item by item; anything that has no members stays as it is.
 */
export function filterFields(data: unknown, wanted: unknown): unknown {
  const names = parseList(wanted);
  if (names.length === 0) return data;
  const tree = buildTree(names);
  return Array.isArray(data) ? data.map((item: unknown) => pick(item, tree)) : pick(data, tree);
}

function buildTree(names: readonly string[]): FieldTree {
  const root: FieldTree = new Map();
  for (const name of names) {
    const parts = name.split('.');
    const last = parts.pop() ?? '';
    const branch = branchOf(root, parts);
    branch?.set(last, true);
  }
  return root;
}

/** Null when a whole member around it is wanted already. */
function branchOf(root: FieldTree, parts: readonly string[]): FieldTree | null {
  let tree = root;
  for (const part of parts) {
    const present = tree.get(part);
    if (present === true) return null;
    const next: FieldTree = present ?? new Map();
    tree.set(part, next);
    tree = next;
  }
  return tree;
}

function pick(data: unknown, tree: FieldTree): unknown {
  if (!isPlainObject(data)) return data;
  const kept: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(data)) {
    const wanted = tree.get(name);
    if (wanted !== undefined) kept[name] = wanted === true ? member : pick(member, wanted);
  }
  return kept;
}
