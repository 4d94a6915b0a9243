import { readFile } from 'node:fs/promises';
import { type AdminActionResult, type AdminRequest, withNotice, fieldErrorsOf } from '#plugin-api';

/** Maximum number of pasted characters. A file may have more. */
const maxPastedLength = 1_000_000;
/** Maximum number of errors shown about an import. */
const maxErrors = 20;

/** A failed import, for the page. */
export interface RefusedImport {
  /** The pasted text; '' if a file was chosen. */
  readonly text: string;
  readonly errors: readonly string[];
}

export interface ImportUploadInit {
  /** The pasted text. Undefined on a page that accepts only files. */
  readonly pasted?: string;
  /** Imports the text and returns the result. @throws RestError 400 `rest_invalid_param`; nothing is imported */
  readonly run: (text: string) => Promise<AdminActionResult>;
  /** The page with the errors of the import. */
  readonly page: (refused: RefusedImport) => Promise<NonNullable<AdminActionResult['page']>>;
}

/** Imports the file of the field `file`, otherwise the pasted text: all of it or nothing. Other errors are rethrown. */
export async function importUpload(
  request: AdminRequest,
  { pasted, run, page }: ImportUploadInit,
): Promise<AdminActionResult> {
  const file = request.files?.['file'];
  const refuse = async (errors: readonly string[]): Promise<AdminActionResult> =>
    withNotice('error', 'Nothing was imported.', {
      page: await page({ text: file ? '' : (pasted ?? ''), errors: errors.slice(0, maxErrors) }),
      status: 400,
    });
  if (!file && pasted === undefined) return refuse(['Choose an export file.']);
  if (!file && pasted?.trim() === '') return refuse(['Choose an export file, or paste its content.']);
  if (!file && (pasted?.length ?? 0) > maxPastedLength)
    return refuse(['The text is too long to paste. Upload it as a file.']);
  try {
    return await run(file ? await readFile(file.path, 'utf8') : (pasted ?? ''));
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (!errors) throw error;
    return refuse(Object.values(errors));
  }
}

/** Returns a value as a JSON file to download. */
export function downloadJson(name: string, value: unknown): AdminActionResult {
  return {
    download: { name, type: 'application/json; charset=utf-8', content: pieces(`${JSON.stringify(value, null, 2)}\n`) },
  };
}

async function* pieces(content: string): AsyncGenerator<string> {
  yield await Promise.resolve(content);
}
