import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { RestError } from '#plugin-api';

export interface UploadedFile {
  /** Name of the form's field. */
  readonly field: string;
  /** As the browser sent it, without folders. */
  readonly name: string;
  readonly bytes: Buffer;
}

export interface Multipart {
  /** In their order; the same name may come again. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Empty file inputs are left out. */
  readonly files: readonly UploadedFile[];
}

export interface MultipartLimits {
  /** Bytes of one file. */
  readonly fileSize: number;
  /** Bytes of all that is sent, files included. */
  readonly total: number;
}

export function isMultipart(contentType: string | undefined): boolean {
  return /^multipart\/form-data\s*;/i.test(contentType ?? '');
}

/**
 * Reads a form with files, which are kept in memory.
 *
 * @throws RestError 413 `rest_body_too_large`, 400 `rest_upload_unreadable`.
 */
export async function readMultipart(
  source: Readable | Uint8Array,
  headers: IncomingHttpHeaders,
  { fileSize, total }: MultipartLimits,
): Promise<Multipart> {
  const { default: busboy } = await import('busboy');
  const fields: [string, string][] = [];
  const files: UploadedFile[] = [];
  const tooLarge = (limit: number): RestError =>
    new RestError({
      code: 'rest_body_too_large',
      message: `What was sent is too large. Send at most ${limit} bytes.`,
      status: 413,
      data: { limit },
    });
  return new Promise((resolve, reject) => {
    let parser: ReturnType<typeof busboy>;
    try {
      parser = busboy({
        headers,
        defParamCharset: 'utf8',
        limits: { fileSize: fileSize + 1, files: 20, fields: 500, fieldSize: 1_048_576, fieldNameSize: 200 },
      });
    } catch (cause) {
      reject(unreadable(cause));
      return;
    }
    const input = source instanceof Readable ? source : Readable.from([source]);
    const fail = (error: unknown): void => {
      input.unpipe(parser);
      input.resume();
      reject(error instanceof RestError ? error : unreadable(error));
    };
    let length = 0;
    input.on('data', (chunk: Uint8Array) => {
      length += chunk.length;
      if (length > total) fail(tooLarge(total));
    });
    input.on('error', fail);
    // A caller who hangs up leaves the form without an end.
    input.on('close', () => fail(new Error('The connection was closed.')));
    parser.on('field', (name, value) => fields.push([name, value]));
    parser.on('file', (field, stream, { filename }) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('limit', () => fail(tooLarge(fileSize)));
      stream.on('end', () => {
        if (filename) files.push({ field, name: filename, bytes: Buffer.concat(chunks) });
      });
    });
    parser.on('error', fail);
    parser.on('close', () => resolve({ fields, files }));
    // It may have closed before anybody listened.
    if (input.destroyed) fail(new Error('The connection was closed.'));
    else input.pipe(parser);
  });
}

function unreadable(cause: unknown): RestError {
  return new RestError({
    code: 'rest_upload_unreadable',
    message: 'The form with the file could not be read. Send it as multipart/form-data.',
    status: 400,
    cause,
  });
}
