import type { AiForms } from '../ai-forms.ts';
import { parseId, requireFound, type AdminRequest, type HostApi } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import type { AiForm } from '../forms/form.ts';

/** Slugs of the pages. */
export const formsSlug = 'svc/ai-forms';
export const editSlug = 'svc/ai-forms/edit';
export const submissionsSlug = 'svc/ai-forms/submissions';
export const submissionSlug = 'svc/ai-forms/submission';

/** Where a form may be embedded (D16). */
export function embedLabel({ enabled, any_site: anySite, allowed_domains: domains }: AiForm['embed']): string {
  if (!enabled) return 'Embedding off';
  if (anySite) return 'Any site';
  if (domains.length === 0) return 'This site';
  return domains.length === 1 ? `This site and ${domains[0] ?? ''}` : `This site and ${String(domains.length)} others`;
}

export function snippets(
  { rest }: Pick<HostApi, 'rest'>,
  id: number,
): { readonly shortcode: string; readonly script: string } {
  return {
    shortcode: `[svc_form id=${String(id)}]`,
    script: `<script src="${rest.url('/svc-widget/v1/widget.js')}" data-form="${String(id)}" async></script>`,
  };
}

/** @throws RestError 404. */
export async function findForm(parts: AiForms, id: unknown): Promise<AiForm> {
  return requireFound(await parts.forms.get(parseId(id)), {
    code: 'rest_svc_ai_form_not_found',
    status: 404,
    message: 'Form not found. It may have been deleted.',
  });
}

export function postedForm(parts: AiForms, request: AdminRequest): Promise<AiForm> {
  return findForm(parts, readText(request, 'id'));
}
