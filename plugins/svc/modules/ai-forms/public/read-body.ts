import { Readable } from 'node:stream';
import {
  createMultipartFields,
  asRecord,
  invalidFields,
  isRecord,
  isUrl,
  RestError,
  storableText,
  textError,
  type RestRequest,
} from '#plugin-api';
import { maxFileSize, maxTotalFileSize } from '../forms/form-errors.ts';
import type { UploadedFile, InputValues } from '../submit/read-values.ts';

/** The body of a submission, unchecked. */
export interface SubmissionBody extends InputValues {
  readonly token: string;
  readonly nonce: string;
  readonly submissionId: string;
  /** An http or https URL, or empty. */
  readonly pageUrl: string;
  readonly consent: boolean;
}

/** In bytes. */
export const bodyLimit = (maxTotalFileSize + 1) * 1_048_576;

type Fields = Record<string, unknown>;

/**
 * @throws RestError 400 `rest_upload_unreadable`, or `rest_invalid_param` for text that cannot be stored (D54);
 *   413 `rest_body_too_large`
 */
export async function readBody(request: RestRequest): Promise<SubmissionBody> {
  const isMultipart = /^multipart\/form-data\s*;/i.test(request.headers['content-type'] ?? '');
  const { fields, files } = isMultipart ? await readMultipart(request) : { fields: fieldsOf(request), files: {} };
  const text = (name: string, most: number): string =>
    typeof fields[name] === 'string' ? fields[name].slice(0, most) : '';
  const { values, consent } = fields;
  return {
    token: text('token', 200),
    nonce: text('nonce', 100),
    submissionId: text('submission_id', 36).toLowerCase(),
    pageUrl: webAddress(text('page_url', 2_000)),
    consent: consent === true || consent === 'true' || consent === '1' || consent === 'on',
    values: asRecord(values),
    files,
  };
}

function fieldsOf({ json, form }: RestRequest): Fields {
  return isRecord(json) ? json : form;
}

function webAddress(given: string): string {
  return /^https?:\/\//i.test(given) && isUrl(given) ? given : '';
}

/** Files stay in memory. */
async function readMultipart({
  body,
  headers,
}: RestRequest): Promise<{ readonly fields: Fields; readonly files: Record<string, UploadedFile> }> {
  const { default: busboy } = await import('busboy');
  const decoder = createMultipartFields();
  decoder.see(body);
  const pairs: [string, string][] = [];
  const files: Record<string, UploadedFile> = {};
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: unknown): void => reject(cause instanceof RestError ? cause : unreadable(cause));
    try {
      // One byte above the limit, so that the check of the field reports files that are too large.
      const parser = busboy({
        headers,
        defParamCharset: 'utf8',
        defCharset: 'latin1',
        limits: {
          fileSize: maxFileSize * 1_048_576 + 1,
          files: 60,
          fields: 500,
          // All others are skipped, and cost as much to find.
          parts: 560,
          fieldSize: 262_144,
          fieldNameSize: 200,
        },
      });
      parser.on('field', (name, value) => pairs.push([name, decoder.read(value)]));
      parser.on('file', (field, stream, { filename }) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const id = /^values\[([A-Za-z0-9_-]{1,60})\]$/.exec(field)?.[1];
          if (id !== undefined && filename) files[id] = { name: filename, bytes: Buffer.concat(chunks) };
        });
      });
      parser.on('error', fail);
      parser.on('close', resolve);
      Readable.from([body]).pipe(parser);
    } catch (error) {
      fail(error);
    }
  });
  for (const [name, value] of pairs) {
    const shown = /^values\[([\w-]{1,60})\]/.exec(name)?.[1] ?? storableText(name);
    const error = textError(shown, name + value);
    if (error !== null) throw invalidFields({ [shown]: error });
  }
  return { fields: nested(pairs), files };
}

/** Nests `values[a]` and `values[a][]`. */
function nested(pairs: readonly (readonly [string, string])[]): Fields {
  const fields: Fields = {};
  const values: Fields = {};
  for (const [name, value] of pairs) {
    const [, id, list] = /^values\[([A-Za-z0-9_-]{1,60})\](\[\])?$/.exec(name) ?? [];
    if (id === undefined) fields[name] = value;
    else if (list === undefined) values[id] = value;
    else values[id] = [...(Array.isArray(values[id]) ? (values[id] as unknown[]) : []), value];
  }
  return { ...fields, values };
}

function unreadable(cause: unknown): RestError {
  return new RestError({
    code: 'rest_upload_unreadable',
    message: 'The form with its files could not be read. Send it again.',
    status: 400,
    cause,
  });
}
