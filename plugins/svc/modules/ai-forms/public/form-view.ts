import type { AiForm } from '../forms/form.ts';
import type { FormView } from './protocol.ts';

export function formView({ id, name, intro, elements, texts, result, consent }: AiForm): FormView {
  return { id, name, intro, elements, texts, result: { copy: result.copy, download: result.download }, consent };
}
