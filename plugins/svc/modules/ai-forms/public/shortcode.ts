import type { AiForms } from '../ai-forms.ts';
import { parseId, type ShortcodeAttributes, type ShortcodeContext } from '#plugin-api';
import '../hooks.ts';
import { formView } from './markup.ts';
import { formMarkup, whyHidden } from './markup.ts';

/**
 * `[svc_form id=3]`, `[svc_form 3]`: a form on a page of this site, which works without script. If it cannot be shown, only
 * administrators see the reason. A form that a post contains several times is rendered once (D46).
 */
export function createShortcode(
  parts: AiForms,
): (attributes: ShortcodeAttributes, context: ShortcodeContext, page: string) => Promise<string> {
  const { host } = parts;
  const { forms, visitors } = parts;
  const rendered = new WeakMap<ShortcodeContext, Map<string, Promise<string>>>();
  return (attributes, context, pageUrl) => {
    const id = attributes['id'] ?? attributes['0'] ?? '';
    const ofContext = rendered.get(context) ?? new Map<string, Promise<string>>();
    rendered.set(context, ofContext);
    const html = ofContext.get(id) ?? render(id, context, pageUrl);
    ofContext.set(id, html);
    return html;
  };

  async function render(id: string, { viewer }: ShortcodeContext, pageUrl: string): Promise<string> {
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
  }
}
