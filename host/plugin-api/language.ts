import { AsyncLocalStorage } from 'node:async_hooks';

/** A language other than English, which the code and the templates are written in. */
export interface Language {
  /** BCP 47, such as `de` or `pt-BR`. */
  readonly tag: string;
  readonly direction: 'ltr' | 'rtl';
  /**
   * The translation of a text of the program, or undefined.
   *
   * @param slug of the plugin whose catalog is read first.
   */
  find(text: string, slug?: string): string | undefined;
  /** The text for a count. The catalog has all forms under the first one. */
  findPlural(one: string, count: number, slug?: string): string | undefined;
  /** The translation of a finished English text, whose values are already filled in, or the text itself. */
  translate(text: string): string;
}

const storage = new AsyncLocalStorage<Language | undefined>();

/** The language of the request that runs; undefined is English, or that nothing has chosen one. */
export function currentLanguage(): Language | undefined {
  return storage.getStore();
}

/** Runs `work` in a language. English in English costs nothing: the storage is not switched on, which would slow every promise. */
export function inLanguage<Result>(language: Language | undefined, work: () => Result): Result {
  return language === storage.getStore() ? work() : storage.run(language, work);
}

/** For `Intl`. English is formatted as in Great Britain, with the day before the month. */
export function currentLocale(): string {
  return storage.getStore()?.tag ?? 'en-GB';
}

/** A text of the program in the language of the request, with its values filled in or not. English stays as it is. */
export function translateText(text: string): string {
  return storage.getStore()?.translate(text) ?? text;
}
