import { readTransfer } from '../../../admin-ui/read-transfer.ts';
import type { AiForm, FormSettings, FormStore } from './form.ts';
import { settingsOf } from './form-store.ts';

const format = 'svc-ai-forms';
const version = 1;

/** Forms as JSON for another site or a backup, without ids, submissions and secrets. */
export interface FormTransfer {
  readonly format: typeof format;
  readonly version: typeof version;
  readonly forms: readonly FormSettings[];
}

export function exportForms(forms: readonly AiForm[]): FormTransfer {
  return { format, version, forms: forms.map(settingsOf) };
}

/**
 * Creates the forms of an export. If one is invalid, none is created.
 *
 * @param text JSON from `exportForms`, up to 200 forms
 * @throws RestError 400 `rest_invalid_param`, every invalid member by its path (`forms[1].elements[0].id`)
 */
export async function importForms(text: string, store: Pick<FormStore, 'createAll'>): Promise<readonly AiForm[]> {
  return store.createAll(readTransfer(text, { format, version, list: 'forms', noun: 'forms', title: 'AI forms' }));
}
