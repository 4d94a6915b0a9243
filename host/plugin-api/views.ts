import type { Undo } from './undo.ts';

/**
 * Handlebars templates, escaped by default. A plugin's template `settings` is looked for in `views/<slug>/settings.hbs`
 * of the site, then in the folder `views` of the plugin. Partials are found the same way: `{{> svc/provider-card}}`, `{{> admin/field}}`.
 */
export interface ViewsApi {
  /** @param template `<slug>/<name>` without ending, for example `svc/settings`. Throws an Error that names the folders searched. */
  render(template: string, data?: Readonly<Record<string, unknown>>): Promise<string>;
  /** The result is escaped unless it is the answer of `safe`. */
  addHelper(name: string, helper: (...args: unknown[]) => unknown): Undo;
  /** Marks HTML that the caller vouches for. */
  safe(html: string): unknown;
}
