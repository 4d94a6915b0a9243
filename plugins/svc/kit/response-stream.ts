import type { Readable } from 'node:stream';

const streams = new WeakMap<Response, Readable>();

/** Remembers Node's stream of a response's body, for `bytesOf`. */
export function setResponseStream(response: Response, stream: Readable): void {
  streams.set(response, stream);
}

/** Reads the body of a response piece by piece. */
export interface ByteReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  /** Ends the body, and a pending read. */
  cancel(): void;
}

/**
 * The bytes of a response as they arrive; null without a body. Responses of `createUndiciFetch` are read from Node's stream:
 * a web stream around it takes longer to open than everything else between the upstream's first piece and the caller.
 */
export function bytesOf(response: Response): ByteReader | null {
  const stream = streams.get(response);
  if (stream !== undefined) return readNode(stream);
  const reader = response.body?.getReader();
  if (reader === undefined) return null;
  return { read: () => reader.read(), cancel: () => void reader.cancel().catch(() => undefined) };
}

function readNode(stream: Readable): ByteReader {
  const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>;
  // An error during a read reaches its reader. Later ones have none.
  stream.on('error', () => undefined);
  return {
    async read() {
      const { done = false, value } = await pieces.next();
      return { done, value };
    },
    cancel: () => void stream.destroy(),
  };
}
