/** Where a callback was added. Node formats the stack when it is read, so taking it costs about ten microseconds. */
export interface AddedAt {
  readonly stack?: string;
}

/** @param adder the function that adds; frames above it are left out. */
export function noteAddedAt(adder: (...args: never[]) => unknown): AddedAt {
  const at: AddedAt = {};
  Error.captureStackTrace(at, adder);
  return at;
}

/** Files that pass a registration on. */
const passedThrough = /[\\/]host[\\/](?:hooks|loader)[\\/]|\(?node:/;

/**
 * File and line of the code that added a callback, from the folder of its owner on, such as `order-helper/index.ts:12`; null
 * if it is unknown.
 */
export function readPosition({ stack = '' }: AddedAt, owner: string): string | null {
  const frame = stack.split('\n').find((line) => /^\s+at /.test(line) && !passedThrough.test(line));
  const [, path, line] = /(?:\(|at (?:async )?)(?:file:\/\/)?([^()]+?):(\d+)(?::\d+)?\)?$/.exec(frame ?? '') ?? [];
  if (path === undefined || line === undefined) return null;
  const start = path.lastIndexOf(`/${owner}/`);
  return `${start < 0 ? path : path.slice(start + 1)}:${line}`;
}
