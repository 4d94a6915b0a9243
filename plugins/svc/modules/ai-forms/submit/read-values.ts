import { DocumentError, formatRetryTime, RestError, retryAfter, type HostApi } from '#plugin-api';
import { imageExtension } from '../../../ai/image-bytes.ts';
import type { SourceImage } from '../../../kit/image-params.ts';
import { readDocument, type ReadingInit } from '../../../kit/documents.ts';
import { errors as serviceErrors } from '../../../kit/errors.ts';
import { readEntry } from '../../../kit/form-elements.ts';
import type { FormElement } from '../forms/form.ts';
import { maxFileSize } from '../forms/form-errors.ts';
import type { Answers, FileValue } from '../submissions/submission.ts';

/** A file in memory, never written to disk. */
export interface UploadedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Submitted values, unchecked. */
export interface InputValues {
  /** By id of the element. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, UploadedFile>>;
}

export interface CheckedValues extends Answers {
  /** Values for `{id}` in the prompt. For files, their text; for images, their names. */
  readonly promptValues: Readonly<Record<string, string>>;
  /** In the order of their elements. */
  readonly images: readonly SourceImage[];
}

type Value = string | number | readonly string[] | FileValue | null;
export type Read =
  | { readonly value: Value; readonly display: string; readonly prompt?: string; readonly image?: SourceImage }
  | { readonly error: string };

const longest = { line: 1_000, text: 20_000 };
/** Characters of a file that go into the prompt. */
export const longestFileText = 100_000;

/** How files are read. */
export interface FileReading extends ReadingInit {
  readonly host: Pick<HostApi, 'documents'>;
  /** Called when a file was given to a reader and not read. */
  readonly onFailure?: (() => Promise<void>) | undefined;
}

/**
 * Checks what a visitor filled in, on the server whatever the browser did before: every element by its kind and limits;
 * values of unknown elements are left out. Of files the text is read, in a thread; the uploaded bytes are empty afterwards.
 *
 * @throws RestError 400 `rest_invalid_param`, `data.params` with a sentence for each bad element by its id (D4);
 *   429 `rest_svc_rate_limited` while too many files are read; what `onFailure` throws.
 */
export async function readValues(
  elements: readonly FormElement[],
  given: InputValues,
  reading: FileReading,
): Promise<CheckedValues> {
  const errors: Record<string, string> = {};
  const inputs: Record<string, Value> = {};
  const display: Record<string, string> = {};
  const labels: Record<string, string> = {};
  const promptValues: Record<string, string> = {};
  const images: SourceImage[] = [];
  for (const element of elements) {
    const { id, label } = element;
    const file = Object.hasOwn(given.files, id) ? given.files[id] : undefined;
    const read =
      element.type === 'file'
        ? await readFile(element, file, reading)
        : element.type === 'image'
          ? readImage(element, file)
          : readValue(element, Object.hasOwn(given.values, id) ? given.values[id] : undefined);
    if ('error' in read) {
      errors[id] = read.error;
      continue;
    }
    inputs[id] = read.value;
    display[id] = read.display;
    labels[id] = label;
    promptValues[id] = read.prompt ?? read.display;
    if (read.image !== undefined) images.push(read.image);
  }
  if (Object.keys(errors).length > 0) throw invalidValues(errors);
  return { inputs, display_values: display, labels, promptValues, images };
}

export function invalidValues(errors: Readonly<Record<string, string>>): RestError {
  const details = Object.fromEntries(
    Object.entries(errors).map(([id, message]) => [id, { code: 'rest_invalid_form_value', message, data: null }]),
  );
  return new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: `Invalid parameter(s): ${Object.keys(errors).join(', ')}`,
    data: { params: errors, details },
  });
}

/** Reads one value as browsers send it: text, numbers, lists of checkboxes. */
export function readValue(element: FormElement, given: unknown): Read {
  return element.type === 'file' || element.type === 'image'
    ? { error: `${element.label} must be a file.` }
    : readEntry(element, given, longest);
}

/** Name and bytes of an upload, or what it reads as if it is missing or too large. */
function readUpload(
  { label, required, max }: FormElement,
  file: UploadedFile | undefined,
): { readonly name: string; readonly bytes: Uint8Array } | Read {
  if (file === undefined || file.bytes.length === 0)
    return required ? { error: `${label} is required.` } : { value: null, display: '' };
  const most = Math.min(maxFileSize, max ?? maxFileSize);
  if (file.bytes.length > most * 1_048_576) return { error: `${label} must not be larger than ${String(most)} MB.` };
  return { name: file.name.replace(/[\u0000-\u001f\u007f]/g, '').slice(-200), bytes: file.bytes };
}

const imageTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

/** An image by its bytes, whatever its name and declared type. It stays in memory. */
function readImage(element: FormElement, file: UploadedFile | undefined): Read {
  const upload = readUpload(element, file);
  if (!('bytes' in upload)) return upload;
  const { name, bytes } = upload;
  const mimeType = imageTypes[imageExtension(bytes) ?? ''];
  if (mimeType === undefined) return { error: `${element.label} must be a PNG, JPEG, WebP or GIF image.` };
  return { value: { name, size: bytes.length }, display: name, image: { bytes, mimeType } };
}

async function readFile(element: FormElement, file: UploadedFile | undefined, reading: FileReading): Promise<Read> {
  const { label } = element;
  const upload = readUpload(element, file);
  if (!('bytes' in upload)) return upload;
  const { name, bytes } = upload;
  if (!/\.(txt|md|pdf)$/i.test(name)) return { error: `${label} must be a .txt, .md or .pdf file.` };
  const size = bytes.length;
  const { host, onFailure, ...init } = reading;
  try {
    const { text } = await readDocument(host, { name, bytes, longest: longestFileText }, init);
    return { value: { name, size }, display: name, prompt: text };
  } catch (error) {
    if (error instanceof DocumentError && error.code === 'busy')
      throw serviceErrors.rate_limited({
        values: { when: formatRetryTime(60_000) },
        headers: retryAfter(60_000),
        cause: error,
      });
    await onFailure?.();
    if (!(error instanceof DocumentError)) throw error;
    return { error: `${label}: ${error.message}` };
  }
}
