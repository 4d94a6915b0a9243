import { readTransfer } from '../../../admin-ui/read-transfer.ts';
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
 * @param text JSON as `exportTemplates` made it, up to 200 templates
 * @throws RestError 400 `rest_invalid_param`, every bad member by its path (`templates[1].parts.title.prompt`)
 */
export async function importTemplates(
  text: string,
  store: Pick<TemplateStore, 'createAll'>,
): Promise<readonly Template[]> {
  return store.createAll(readTransfer(text, { format, version, list: 'templates', noun: 'templates' }));
}
