import { readTransfer } from '../../../admin-ui/read-transfer.ts';
import type { AiForm, FormSettings, FormStore } from './form.ts';
import { settingsOf } from './form-record.ts';

/** Marks a file of forms. */
const format = 'svc-ai-forms';
const version = 1;

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
  return store.createAll(readTransfer(text, { format, version, list: 'forms', noun: 'forms', title: 'AI forms' }));
}
