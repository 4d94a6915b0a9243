import type { Undo } from './undo.ts';

/**
 * Services with known types. The plugin that provides one adds it by augmentation:
 * `declare module '#plugin-api' { interface ServiceMap { 'order-helper.prices': Prices } }`.
 * Any other string is a valid name too.
 */
export interface ServiceMap {}

type ProvidedService<Name extends string> = Name extends keyof ServiceMap ? ServiceMap[Name] : object;
type FoundService<Name extends string> = Name extends keyof ServiceMap ? ServiceMap[Name] : unknown;

/** What plugins of one process provide for each other: objects with methods, or functions. */
export interface ServicesApi {
  /**
   * Provides a service in `register`, until the plugin is deactivated.
   *
   * @param name the plugin's slug, or the slug, a dot and a word: `order-helper.prices`. Throws Error if the name is taken.
   */
  provide<Name extends string>(name: Name, service: ProvidedService<Name>): Undo;
  /**
   * Finds a service. Throws Error with the name of the missing plugin if no active plugin provides it: name that plugin under
   * `requires` in plugin.json, so that it starts first.
   *
   * The result follows its provider: keep it as long as you like. Each use reaches what is provided now, after an upgrade the
   * new version. While the provider is inactive, each use throws the same Error, so no code of a stopped plugin runs.
   * Members cannot be set from outside. Classes are no members of services.
   */
  get<Name extends string>(name: Name): FoundService<Name>;
  /** Whether an active plugin provides it: for plugins that do without. */
  has(name: string): boolean;
}
