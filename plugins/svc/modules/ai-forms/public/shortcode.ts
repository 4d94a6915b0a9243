import type { AiForms } from '../ai-forms.ts';
import { parseId, type ShortcodeAttributes, type User } from '#plugin-api';
import '../hooks.ts';
import { formView } from './markup.ts';
import { formMarkup, whyHidden } from './markup.ts';

/**
 * `[svc_form id=3]`, `[svc_form 3]`: a form on a page of this site, which works without script. If it cannot be shown, only
 * administrators see the reason.
 */
export function createShortcode(
  parts: AiForms,
): (attributes: ShortcodeAttributes, viewer: User | undefined, page: string) => Promise<string> {
  const { host } = parts;
  const { forms, visitors } = parts;
  return async (attributes, viewer, pageUrl) => {
    const id = attributes['id'] ?? attributes['0'] ?? '';
    const form = await forms.get(parseId(id));
    const error =
      id === ''
        ? 'Add the id of the form: [svc_form id=3].'
        : form === null
          ? `No form has the id ${id}.`
          : whyHidden(form);
    if (form === null || error !== null)
      return viewer?.can('manage_options') ? host.views.render('svc/ai-forms/notice', { error }) : '';
    const view = await host.hooks.applyFiltersAsync('svc_form_config', formView(form, host), form, null);
    return host.views.render(
      'svc/ai-forms/embedded',
      formMarkup(host, view, { nonce: await visitors.nonce(form.id), pageUrl }),
    );
  };
}
