import { isMembers } from '../../../kit/settings-schema/fill.ts';
import { invalidFields } from '../../../settings/invalid-fields.ts';
import type { AiForm, FormSettings, FormStore } from './form.ts';
import { settingsOf } from './form-record.ts';

/** Marks a file of forms. */
const format = 'svc-ai-forms';
const version = 1;
const most = 200;

/** One or several forms as JSON, for another site or for safe keeping: no ids, no submissions, nothing secret. */
export interface FormTransfer {
  readonly format: typeof format;
  readonly version: typeof version;
  readonly forms: readonly FormSettings[];
}

export function exportForms(forms: readonly AiForm[]): FormTransfer {
  return { format, version, forms: forms.map(settingsOf) };
}

/**
 * Makes the forms of an export: all of them, or none where one is refused.
 *
 * @param text JSON as `exportForms` made it, up to 200 forms
 * @throws RestError 400 `rest_invalid_param`, every bad member by its path (`forms[1].elements[0].id`)
 */
export async function importForms(text: string, store: Pick<FormStore, 'createAll'>): Promise<readonly AiForm[]> {
  return store.createAll(readTransfer(text));
}

function readTransfer(text: string): readonly unknown[] {
  let transfer: unknown;
  try {
    transfer = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw invalidFields({ file: 'The file is not JSON.' });
  }
  if (!isMembers(transfer) || transfer['format'] !== format) throw invalidFields({ format: `The file is no export of AI forms: its format is not ${format}.` });
  if (transfer['version'] !== version) throw invalidFields({ version: `The file has version ${JSON.stringify(transfer['version'] ?? null)}; version ${String(version)} can be read here.` });
  const { forms } = transfer;
  if (!Array.isArray(forms) || forms.length === 0 || forms.length > most) throw invalidFields({ forms: `forms must be a list of 1 to ${String(most)} forms.` });
  return forms;
}
