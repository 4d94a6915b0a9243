import type { Undo } from './undo.ts';

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
