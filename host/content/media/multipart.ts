import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { createMultipartFields, invalidFields, RestError, storableText, textError } from '#plugin-api';

export interface UploadedFile {
  readonly field: string;
  /** File name from the browser, without folders. */
  readonly name: string;
  readonly bytes: Buffer;
}

export interface Multipart {
  /** In order; names may repeat. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Without empty file inputs. */
  readonly files: readonly UploadedFile[];
}

export interface MultipartLimits {
  readonly fileSize: number;
  /** Maximum bytes of the whole body, including files. */
  readonly total: number;
}

export function isMultipart(contentType: string | undefined): boolean {
  return /^multipart\/form-data\s*;/i.test(contentType ?? '');
}

/**
 * Reads a multipart form into memory.
 *
 * @throws RestError 413 `rest_body_too_large`, 400 `rest_upload_unreadable`, or `rest_invalid_param` for text that cannot be stored (D54).
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
      message: `The request is too large. Send at most ${limit} bytes.`,
      status: 413,
      data: { limit },
    });
  return new Promise((resolve, reject) => {
    let parser: ReturnType<typeof busboy>;
    try {
      parser = busboy({
        headers,
        defParamCharset: 'utf8',
        defCharset: 'latin1',
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
    const decoder = createMultipartFields();
    let length = 0;
    input.on('data', (chunk: Uint8Array) => {
      length += chunk.length;
      decoder.see(chunk);
      if (length > total) fail(tooLarge(total));
    });
    input.on('error', fail);
    // A closed connection leaves the form incomplete.
    input.on('close', () => fail(new Error('The connection was closed.')));
    parser.on('field', (name, sent) => {
      const value = decoder.read(sent);
      const shown = storableText(name);
      const error = textError(shown, name + value);
      if (error === null) fields.push([name, value]);
      else fail(invalidFields({ [shown]: error }));
    });
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
    // The stream may have closed before the listener was added.
    if (input.destroyed) fail(new Error('The connection was closed.'));
    else input.pipe(parser);
  });
}

function unreadable(cause: unknown): RestError {
  return new RestError({
    code: 'rest_upload_unreadable',
    message: 'The form could not be read. Send it as multipart/form-data.',
    status: 400,
    cause,
  });
}
