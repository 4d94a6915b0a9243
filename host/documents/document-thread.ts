import type { MessagePort } from 'node:worker_threads';
import type { DocumentErrorCode, DocumentReader } from '#plugin-api';

/** What a thread gets for one document. */
export interface ThreadTask {
  /** URL of the reader's module. */
  readonly module: string;
  readonly reader: string;
  readonly input: unknown;
  /** Null: the caller wants no progress. */
  readonly progress: MessagePort | null;
}

/** Classes of errors do not survive the way between threads, so the refusal of a document is a result. */
export type ThreadResult =
  { readonly value: unknown } | { readonly refusal: { readonly message: string; readonly code: DocumentErrorCode } };

/** Runs one reader. Called in a worker thread. */
export async function runReader({ module, reader, input, progress }: ThreadTask): Promise<ThreadResult> {
  const readers = (await import(module)) as Readonly<Record<string, DocumentReader | undefined>>;
  const read = readers[reader];
  if (typeof read !== 'function') throw new Error(`The module ${module} exports no reader named ${reader}.`);
  try {
    return { value: await read(input as never, { report: (value) => progress?.postMessage(value) }) };
  } catch (error) {
    // By name, because a plugin outside this repository has no access to the class.
    const { name, message, code = 'unreadable' } = error as Error & { readonly code?: DocumentErrorCode };
    if (name === 'DocumentError') return { refusal: { message, code } };
    throw error;
  } finally {
    progress?.close();
  }
}
