/**
 * Why a document was not read: `unreadable` its content; `timeout` reading took too long; `too_large` reading needed more
 * memory than allowed; `busy` too many documents are waiting.
 */
export type DocumentErrorCode = 'unreadable' | 'timeout' | 'too_large' | 'busy';

/** A document that was not read. The message is for people: it says why and what to do. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  readonly code: DocumentErrorCode;

  constructor(message: string, code: DocumentErrorCode = 'unreadable') {
    super(message);
    this.code = code;
  }
}

/** What a reader gets besides its input. */
export interface ReadContext {
  /** Sends a cloneable value to `onProgress` of the caller. */
  report(progress: unknown): void;
}

/**
 * A function that parses a document: exported by a module that a worker thread imports, so it sees nothing of the process but its
 * input. Input and result are copied between threads (structured clone). It throws a DocumentError if the document is the reason.
 */
export type DocumentReader = (input: never, context: ReadContext) => unknown;

/**
 * Who waits for a document. Each queue has one thread, so a slow document delays only its queue: `visitors` for files of people
 * without an account, `members` for files of users without `upload_files`, `background` for jobs, `site` for everything that a
 * signed-in user waits for, and `estimates` for counting what a call may cost.
 */
export type DocumentQueue = 'visitors' | 'members' | 'site' | 'background' | 'estimates';

export interface ReadInit<Reader extends DocumentReader> {
  /** The module of the reader: `new URL('./invoice.reader.ts', import.meta.url)`. */
  readonly module: URL;
  /** Name of the exported function. */
  readonly reader: string;
  /** Bytes are passed as direct members. */
  readonly input: Parameters<Reader>[0];
  /** Moves the bytes of the input to the thread without a copy; the caller's arrays are empty afterwards. Default false. */
  readonly movesBytes?: boolean | undefined;
  /** Default `site`. */
  readonly queue?: DocumentQueue | undefined;
  /** Of the user who sent it. In `members`, at most two documents of a user wait while one is read (D46). */
  readonly userId?: number | undefined;
  /** Milliseconds that reading may take, without the time in the queue. Default 10,000. */
  readonly deadline?: number | undefined;
  /** Ends reading, also in the middle of a document. The promise rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Gets what the reader reports. */
  readonly onProgress?: ((progress: never) => void) | undefined;
}

/**
 * Parses documents of strangers in worker threads, so that none can stop the process: each thread has a limit of memory, and is
 * ended at the deadline. Threads start with the first document and end when idle.
 */
export interface DocumentsApi {
  /**
   * Reads one document.
   *
   * @throws DocumentError if it cannot be read, takes too long or too much memory, or the queue is full; the signal's reason if
   *   aborted; Error if the reader fails in another way
   */
  read<Reader extends DocumentReader>(init: ReadInit<Reader>): Promise<Awaited<ReturnType<Reader>>>;
}
