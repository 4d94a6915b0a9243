import { invalidFields } from '../../../settings/invalid-fields.ts';
import type { TemplateStore } from './template-store.ts';
import { settingsOf, type Template, type TemplateSettings } from './template.ts';

const format = 'svc-content-templates';
const version = 1;

/** Templates as JSON, for another site or for safe keeping: no ids. */
export interface TemplateTransfer {
  readonly format: typeof format;
  readonly version: typeof version;
  readonly templates: readonly TemplateSettings[];
}

export function exportTemplates(templates: readonly Template[]): TemplateTransfer {
  return { format, version, templates: templates.map(settingsOf) };
}

/**
 * Makes the templates of an export: all of them, or none where one is refused.
 *
 * @throws RestError 400 `rest_invalid_param`, every bad member by its path (`templates[1].parts.title.prompt`)
 */
export async function importTemplates(text: string, store: Pick<TemplateStore, 'createAll'>): Promise<readonly Template[]> {
  let transfer: Partial<TemplateTransfer> | null;
  try {
    transfer = JSON.parse(text.replace(/^\ufeff/, '')) as Partial<TemplateTransfer> | null;
  } catch {
    throw invalidFields({ file: 'The file is not JSON.' });
  }
  if (transfer?.format !== format) throw invalidFields({ format: `The file is no export of templates: its format is not ${format}.` });
  if (transfer.version !== version) throw invalidFields({ version: `The file has version ${JSON.stringify(transfer.version ?? null)}; version ${String(version)} can be read here.` });
  if (!Array.isArray(transfer.templates)) throw invalidFields({ templates: 'templates must be a list.' });
  return store.createAll(transfer.templates);
}
