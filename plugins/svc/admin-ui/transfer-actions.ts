import { readFile } from 'node:fs/promises';
import type { AdminActionResult, AdminRequest } from '#plugin-api';
import { fieldErrorsOf } from '../kit/field-errors.ts';

/** Characters of a pasted import; a file may have more. */
const mostPasted = 1_000_000;
/** Sentences shown about an import; the first ones tell enough. */
const mostErrors = 20;

/** An import that came to nothing, as the page shows it again. */
export interface RefusedImport {
  /** What was pasted; '' where a file was chosen. */
  readonly text: string;
  readonly errors: readonly string[];
}

export interface ImportUploadInit {
  /** What was pasted into the page; left out where a page takes files alone. */
  readonly pasted?: string;
  /** Makes what the text holds, and says so. @throws RestError 400 `rest_invalid_param`: nothing was made */
  readonly make: (text: string) => Promise<AdminActionResult>;
  /** The page again, with the sentences about the import. */
  readonly page: (refused: RefusedImport) => Promise<NonNullable<AdminActionResult['page']>>;
}

/** An import from the field `file`, or from what was pasted where there is no file: all of it or nothing. Errors other than errors pass. */
export async function importUpload(
  request: AdminRequest,
  { pasted, make, page }: ImportUploadInit,
): Promise<AdminActionResult> {
  const file = request.files?.['file'];
  const refuse = async (errors: readonly string[]): Promise<AdminActionResult> => ({
    notice: { kind: 'error', text: 'Nothing was imported.' },
    page: await page({ text: file ? '' : (pasted ?? ''), errors: errors.slice(0, mostErrors) }),
    status: 400,
  });
  if (!file && pasted === undefined) return refuse(['Choose the file of an export.']);
  if (!file && pasted?.trim() === '') return refuse(['Choose a file, or paste what an export holds.']);
  if (!file && (pasted?.length ?? 0) > mostPasted) return refuse(['This is too long to paste. Choose it as a file.']);
  try {
    return await make(file ? await readFile(file.path, 'utf8') : (pasted ?? ''));
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (!errors) throw error;
    return refuse(Object.values(errors));
  }
}

/** A value as a file of JSON, in place of a page. */
export function downloadJson(name: string, value: unknown): AdminActionResult {
  return {
    download: { name, type: 'application/json; charset=utf-8', content: pieces(`${JSON.stringify(value, null, 2)}\n`) },
  };
}

async function* pieces(content: string): AsyncGenerator<string> {
  yield await Promise.resolve(content);
}
