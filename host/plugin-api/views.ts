import type { Undo } from './undo.ts';
import { isRecord } from './values.ts';

/**
 * Handlebars templates, escaped by default. A plugin's template `settings` is searched in the site's `views/<slug>/settings.hbs`,
 * then in the plugin's folder `views`. Partials are found the same way: `{{> svc/provider-card}}`, `{{> admin/field}}`.
 */
export interface ViewsApi {
  /** @param template `<slug>/<name>` without extension, for example `svc/settings`. Throws an Error with the searched folders. */
  render(template: string, data?: Readonly<Record<string, unknown>>): Promise<string>;
  /** The result is escaped unless `safe` returned it. */
  addHelper(name: string, helper: (...args: unknown[]) => unknown): Undo;
  /** Marks trusted HTML. */
  safe(html: string): unknown;
}

/**
 * Returns what a page shows. Code in plain JavaScript may return anything.
 *
 * @param call begins the sentence of the error, such as `'render' of the page 'shop' (plugin 'shop')`
 * @throws Error that says what was returned instead of a template
 */
export function requireView<View extends { readonly template: string }>(view: View, call: string): View {
  const given: unknown = view;
  if (isRecord(given) && typeof given['template'] === 'string') return view;
  const found =
    typeof given === 'string' ? 'a text' : given === undefined || given === null ? 'nothing' : 'something else';
  throw new Error(`${call} returned ${found} instead of { template, data }.`);
}
