import type { ShortcodeAttributes, User } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { aiFormsOf } from '../ai-forms.ts';
import '../hooks.ts';
import { formView } from './form-view.ts';
import { formMarkup, whyHidden } from './markup.ts';

/**
 * `[svc_form id=3]`, `[svc_form 3]`: a form in a page of the site. It works without script, and better with it. Where it
 * cannot be shown, administrators read why, and visitors see nothing.
 */
export function createShortcode(
  context: ServiceContext,
): (attributes: ShortcodeAttributes, viewer: User | undefined, page: string) => Promise<string> {
  const { host } = context;
  const { forms, visitors } = aiFormsOf(context);
  return async (attributes, viewer, pageUrl) => {
    const id = attributes['id'] ?? attributes['0'] ?? '';
    const form = /^[1-9]\d{0,9}$/.test(id) ? await forms.get(Number(id)) : null;
    const error =
      id === ''
        ? 'Which one? Write its number: [svc_form id=3].'
        : form === null
          ? `There is no form with the number ${id}.`
          : whyHidden(form);
    if (form === null || error !== null)
      return viewer?.can('manage_options') ? host.views.render('svc/ai-forms/notice', { error }) : '';
    const view = await host.hooks.applyFiltersAsync('svc_form_config', formView(form), form, null);
    return host.views.render(
      'svc/ai-forms/embedded',
      formMarkup(host, view, { nonce: await visitors.nonce(form.id), pageUrl }),
    );
  };
}
