import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger, TranslationValues, TranslationsApi, Undo } from '#plugin-api';

/** A text, or one for each plural form. */
type Catalog = Readonly<Record<string, string | readonly string[]>>;

export interface Translations {
  /** The texts of a plugin. Without a folder of translations they are returned as they are. */
  forPlugin(slug: string): TranslationsApi;
  /** Adds the folder `languages` of a plugin, which is read when a text is first needed. */
  addSource(slug: string, directory: string): Undo;
  /** @param locale such as `de_DE`; empty for English. */
  setLocale(locale: string): void;
}

const pluralForms = ['zero', 'one', 'two', 'few', 'many', 'other'];

export function createTranslations({ log }: { readonly log: Pick<Logger, 'error'> }): Translations {
  const directories = new Map<string, string>();
  const catalogs = new Map<string, Catalog>();
  let locale = '';
  let plurals = new Intl.PluralRules('en');

  const catalogOf = (slug: string): Catalog => {
    const known = catalogs.get(slug);
    if (known) return known;
    const directory = directories.get(slug);
    const read =
      directory === undefined || locale === ''
        ? {}
        : { ...readCatalog(directory, locale.split('_', 1)[0] ?? ''), ...readCatalog(directory, locale) };
    catalogs.set(slug, read);
    return read;
  };
  const readCatalog = (directory: string, name: string): Catalog => {
    const file = join(directory, `${name}.json`);
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Catalog;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        log.error('Translations cannot be read', { event: 'translations_unreadable', file, error });
      return {};
    }
  };
  const pluralOf = (texts: readonly string[], count: number): string | undefined => {
    const { pluralCategories } = plurals.resolvedOptions();
    const forms = pluralForms.filter((form) => (pluralCategories as readonly string[]).includes(form));
    return texts[forms.indexOf(plurals.select(count))];
  };

  return {
    forPlugin: (slug) => ({
      __(text, values = {}) {
        const found = catalogOf(slug)[text];
        return fill(typeof found === 'string' && found !== '' ? found : text, values);
      },
      _n(one, many, values) {
        const found = catalogOf(slug)[one];
        const translated = Array.isArray(found) ? pluralOf(found as readonly string[], values.count) : undefined;
        return fill(translated ?? (values.count === 1 ? one : many), values);
      },
    }),
    addSource(slug, directory) {
      directories.set(slug, directory);
      catalogs.delete(slug);
      return () => {
        if (directories.get(slug) !== directory) return;
        directories.delete(slug);
        catalogs.delete(slug);
      };
    },
    setLocale(next) {
      if (next === locale) return;
      locale = next;
      plurals = pluralRules(next);
      catalogs.clear();
    },
  };
}

/** Those of English for a locale that is none: the option can be written without its setting's check. */
function pluralRules(locale: string): Intl.PluralRules {
  try {
    return new Intl.PluralRules(locale === '' ? 'en' : locale.replaceAll('_', '-'));
  } catch {
    return new Intl.PluralRules('en');
  }
}

function fill(text: string, values: TranslationValues): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : placeholder,
  );
}
