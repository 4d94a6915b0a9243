import { RestError, type AdminRequest, type HostApi } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { aiFormsOf } from '../ai-forms.ts';
import type { AiForm } from '../forms/form.ts';

/** Slugs of the pages. */
export const formsSlug = 'svc/ai-forms';
export const editSlug = 'svc/ai-forms/edit';
export const submissionsSlug = 'svc/ai-forms/submissions';

export function statusBadge(status: AiForm['status']): { readonly text: string; readonly kind: 'success' | 'info' } {
  return status === 'active' ? { text: 'Active', kind: 'success' } : { text: 'Inactive', kind: 'info' };
}

/** Where a form may be shown, in a word or two (D16). */
export function embedWords({ enabled, any_site: anySite, allowed_domains: domains }: AiForm['embed']): string {
  if (!enabled) return 'not shown';
  if (anySite) return 'on any site';
  if (domains.length === 0) return 'on this site';
  return domains.length === 1 ? `here and on ${domains[0] ?? ''}` : `here and on ${String(domains.length)} sites`;
}

/** What is copied to show a form somewhere. */
export function snippets(
  { rest }: Pick<HostApi, 'rest'>,
  id: number,
): { readonly shortcode: string; readonly script: string } {
  return {
    shortcode: `[svc_form id=${String(id)}]`,
    script: `<script src="${rest.url('/svc-widget/v1/widget.js')}" data-form="${String(id)}" async></script>`,
  };
}

/** The form of an address (`?id=`) or of a posted form. @throws RestError 404. */
export async function formOf(context: ServiceContext, id: unknown): Promise<AiForm> {
  const form =
    typeof id === 'string' && /^[1-9]\d{0,9}$/.test(id) ? await aiFormsOf(context).forms.get(Number(id)) : null;
  if (form === null)
    throw new RestError({
      code: 'rest_svc_ai_form_not_found',
      status: 404,
      message: 'There is no such form. It may have been deleted.',
    });
  return form;
}

export function postedForm(context: ServiceContext, request: AdminRequest): Promise<AiForm> {
  return formOf(context, readText(request, 'id'));
}
