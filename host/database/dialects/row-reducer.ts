import type { RowReducer, RowReduction } from '#plugin-api';
import { storableBindings } from './storable-bindings.ts';
import type { ReadResult } from './reader-threads.ts';

/** What a thread needs to reduce the rows of a SELECT. */
export interface ReductionTask {
  readonly sql: string;
  readonly values: readonly (string | number)[];
  /** URL of the reducer's module. */
  readonly module: string;
  readonly reducer: string;
  readonly input: unknown;
}

export function reductionTask(
  { values = [], module, reducer, input }: Omit<RowReduction, 'select'>,
  sql: string,
): ReductionTask {
  return { sql, values: storableBindings(values) as (string | number)[], module: module.href, reducer, input };
}

/** The reducer of a task, for one SELECT. */
export async function createReducer({
  module,
  reducer,
  input,
}: Pick<ReductionTask, 'module' | 'reducer' | 'input'>): Promise<RowReducer> {
  const exported = (await import(module)) as Readonly<Record<string, ((input: unknown) => RowReducer) | undefined>>;
  const create = exported[reducer];
  if (typeof create !== 'function') throw new Error(`The module ${module} exports no reducer named ${reducer}.`);
  return create(input);
}

/** Runs work of a thread. The numbers are moved, not copied; an error becomes a result. */
export async function resultOf(
  work: () => Promise<readonly number[]> | readonly number[],
  isConnectionError: (error: unknown) => boolean = () => false,
): Promise<unknown> {
  try {
    const numbers = Float64Array.from(await work());
    // Threads have it. The process loads it with its first thread.
    const { move } = await import('piscina');
    return move(numbers);
  } catch (error) {
    const { message, code } = error as Error & { readonly code?: unknown };
    const result = {
      message,
      code: typeof code === 'string' ? code : undefined,
      isConnection: isConnectionError(error),
    } satisfies ReadResult;
    return result;
  }
}
