import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import type { Request } from 'express';
import { createMultipartFields, nestFields, RestError, restError, storableText, type UploadedFile } from '#plugin-api';
import { formLimit } from './request.ts';

/** A form with uploaded files. They are stored in a temporary folder until `discard` is called. */
export interface Upload {
  readonly form: Readonly<Record<string, unknown>>;
  /** By field name, without empty file fields. */
  readonly files: Readonly<Record<string, UploadedFile>>;
  discard(): Promise<void>;
}

export function isMultipart(request: Request): boolean {
  return /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '');
}

/**
 * Reads a multipart form and writes its files to disk. Call it only for users who can open the page, so that uploads of
 * others are not read.
 *
 * @param limits `limit`: bytes of each of up to ten files; `parent`: where the folder is created.
 * @throws RestError 413 above the limit, 400 for an invalid form; no files remain then.
 */
export async function readUpload(
  request: Request,
  { limit, parent }: { readonly limit: number; readonly parent: string },
): Promise<Upload> {
  if (Number(request.headers['content-length'] ?? 0) > limit + formLimit) throw tooLarge(limit);
  const directory = await mkdtemp(join(parent, 'upload-'));
  const discard = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    const { fields, files } = await readParts(request, { directory, limit });
    return { form: nestFields(fields), files, discard };
  } catch (error) {
    await discard();
    throw error instanceof RestError
      ? error
      : new RestError({
          code: 'rest_upload_broken',
          status: 400,
          message: 'The form could not be read. Send it again.',
          cause: error,
        });
  }
}

interface Parts {
  readonly fields: [name: string, value: string][];
  readonly files: Record<string, UploadedFile>;
}

async function readParts(
  request: Request,
  { directory, limit }: { readonly directory: string; readonly limit: number },
): Promise<Parts> {
  const { default: busboy } = await import('busboy');
  const parts: Parts = { fields: [], files: Object.create(null) as Record<string, UploadedFile> };
  const parser = busboy({
    headers: request.headers,
    defParamCharset: 'utf8',
    defCharset: 'latin1',
    limits: { fileSize: limit, files: 10, fields: 2_000, fieldSize: formLimit },
  });
  const writing: Promise<void>[] = [];
  const decoder = createMultipartFields();
  request.on('data', decoder.see);
  parser.on('field', (name, value) => parts.fields.push([name, decoder.read(value)]));
  parser.on('file', (field, stream, { filename, mimeType }) => {
    if (!filename) return void stream.resume();
    const path = join(directory, String(writing.length));
    const written = writeFile(stream, path, limit).then((size) => {
      parts.files[field] = { name: storableText(filename), type: storableText(mimeType), size, path };
    });
    // Awaited below. Until then this prevents an unhandled rejection.
    written.catch((error: unknown) => parser.destroy(error as Error));
    writing.push(written);
  });
  // A pipeline would destroy the request too, and the client would see a reset connection instead of the response.
  const onClose = (): void => {
    if (!request.complete) parser.destroy(new Error('The client closed the connection.'));
  };
  request.once('close', onClose);
  request.pipe(parser);
  try {
    const ended = finished(parser);
    // The request may have closed before the listener was added.
    if (request.destroyed) onClose();
    await ended;
    await Promise.all(writing);
    return parts;
  } finally {
    request.off('close', onClose);
    request.off('data', decoder.see);
    request.unpipe(parser);
    request.resume();
    // Otherwise a file could still be created while the folder is being removed.
    await Promise.allSettled(writing);
  }
}

async function writeFile(stream: Readable, path: string, limit: number): Promise<number> {
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  // Immediately: the end of the part may never come.
  stream.once('limit', () => stream.destroy(tooLarge(limit)));
  await pipeline(stream, file);
  return file.bytesWritten;
}

function tooLarge(limit: number): RestError {
  return restError(413, 'rest_upload_too_large', `The file is larger than ${Math.floor(limit / 1_048_576)} MB.`);
}
