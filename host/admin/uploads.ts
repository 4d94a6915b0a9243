import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request } from 'express';
import { RestError, type UploadedFile } from '#plugin-api';
import { parseForm } from './form.ts';
import { formLimit } from './request.ts';

/** A form with files, which lie in a folder of their own until it is discarded. */
export interface Upload {
  readonly form: Readonly<Record<string, unknown>>;
  /** By name of the field; empty file fields are left out. */
  readonly files: Readonly<Record<string, UploadedFile>>;
  discard(): Promise<void>;
}

export function isMultipart(request: Request): boolean {
  return /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '');
}

/**
 * Reads a multipart form, its files straight to the disk. Only for visitors who may use the page: others' uploads are
 * not read at all.
 *
 * @param limit bytes of each file, of which there may be ten.
 * @throws RestError 413 above it, 400 when the form is broken; then nothing of it is left.
 */
export async function readUpload(request: Request, limit: number): Promise<Upload> {
  if (Number(request.headers['content-length'] ?? 0) > limit + formLimit) throw tooLarge(limit);
  const directory = await mkdtemp(join(tmpdir(), 'upload-'));
  const discard = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    const { fields, files } = await readParts(request, { directory, limit });
    return { form: parseForm(fields.toString()), files, discard };
  } catch (error) {
    request.unpipe();
    request.resume();
    await discard();
    throw error instanceof RestError ? error : new RestError({ code: 'rest_upload_broken', status: 400, message: 'The form could not be read; send it again.', cause: error });
  }
}

interface Parts {
  readonly fields: URLSearchParams;
  readonly files: Record<string, UploadedFile>;
}

async function readParts(request: Request, { directory, limit }: { readonly directory: string; readonly limit: number }): Promise<Parts> {
  const { default: busboy } = await import('busboy');
  const parts: Parts = { fields: new URLSearchParams(), files: Object.create(null) as Record<string, UploadedFile> };
  const parser = busboy({ headers: request.headers, defParamCharset: 'utf8', limits: { fileSize: limit, files: 10, fields: 2_000, fieldSize: formLimit } });
  const writing: Promise<void>[] = [];
  parser.on('field', (name, value) => parts.fields.append(name, value));
  parser.on('file', (field, stream, { filename, mimeType }) => {
    if (!filename) return void stream.resume();
    const path = join(directory, String(writing.length));
    const written = writeFile(stream, path, limit).then((size) => {
      parts.files[field] = { name: filename, type: mimeType, size, path };
    });
    // Awaited below; until then a failure must not count as unheard.
    written.catch((error: unknown) => parser.destroy(error as Error));
    writing.push(written);
  });
  await pipeline(request, parser);
  await Promise.all(writing);
  return parts;
}

async function writeFile(stream: Readable & { truncated?: boolean }, path: string, limit: number): Promise<number> {
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  await pipeline(stream, file);
  if (stream.truncated) throw tooLarge(limit);
  return file.bytesWritten;
}

function tooLarge(limit: number): RestError {
  return new RestError({ code: 'rest_upload_too_large', status: 413, message: `The file is larger than ${Math.floor(limit / 1_048_576)} MB.` });
}
