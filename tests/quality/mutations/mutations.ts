import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A small change that breaks the product, and the tests that notice it first. */
export interface Mutation {
  readonly id: string;
  readonly file: string;
  /** What no longer holds with it. */
  readonly breaks: string;
  /** Text that the file has exactly once. */
  readonly from: string;
  readonly to: string;
  readonly tests: readonly string[];
}

/** `whole`: all over the product. `work-and-money`: jobs, cron, the worker of webhooks, budgets and prices. */
const lists = ['whole', 'work-and-money'] as const;

export function readMutations(): readonly Mutation[] {
  return lists.flatMap(
    (name) => JSON.parse(readFileSync(join(import.meta.dirname, `${name}.json`), 'utf8')) as Mutation[],
  );
}

/** The file's text with the mutation. @throws if the text is not there exactly once: the mutation has to follow the source. */
export function mutate(text: string, { id, file, from, to }: Mutation): string {
  const found = text.split(from).length - 1;
  if (found !== 1)
    throw new Error(
      `The mutation ${id} looks for this text once in ${file} and found it ${String(found)} times. ` +
        `Write the same change for the code as it is now:\n${from}`,
    );
  return text.replace(from, () => to);
}

/** Why a mutation cannot be tried on the tree as it is; null if it can. */
export function mutationError(mutation: Mutation): string | null {
  if (!existsSync(mutation.file)) return `The mutation ${mutation.id} changes ${mutation.file}, which does not exist.`;
  const missing = mutation.tests.filter((file) => !existsSync(file));
  if (missing.length > 0) return `The mutation ${mutation.id} names ${missing.join(', ')}, which does not exist.`;
  try {
    return mutate(readFileSync(mutation.file, 'utf8'), mutation) === '' ? 'It leaves nothing.' : null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The other quick and long tests beside those that a mutation names: what runs next when it survives these. */
export function neighbors({ tests }: Pick<Mutation, 'tests'>, all: readonly string[]): readonly string[] {
  const folders = new Set(tests.map((file) => file.slice(0, file.lastIndexOf('/') + 1)));
  return all.filter(
    (file) =>
      file.endsWith('.test.ts') &&
      !file.endsWith('.slow.test.ts') &&
      !tests.includes(file) &&
      folders.has(file.slice(0, file.lastIndexOf('/') + 1)),
  );
}
