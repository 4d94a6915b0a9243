import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  currentLanguage,
  inLanguage,
  type Language,
  type Logger,
  type TranslationsApi,
  type TranslationValues,
  type Undo,
} from '#plugin-api';
import { createTextFinder, type Catalog } from './languages/find-text.ts';
import { pseudoLanguage, pseudoLocale } from './languages/pseudo.ts';

export interface Translations {
  /** The texts of a plugin. Without a folder of translations they are returned as they are. */
  forPlugin(slug: string): TranslationsApi;
  /** Adds the folder `languages` of a plugin, which is read when a text is first needed. */
  addSource(slug: string, directory: string): Undo;
  /**
   * Texts that a plugin declares, such as titles of its settings: patterns of other catalogs are not applied to them.
   *
   * @param texts called when a text is first translated.
   */
  addTexts(slug: string, texts: () => readonly string[]): Undo;
  /** The texts that a plugin declares. */
  declaredBy(slug: string): readonly string[];
  /** The language of the site. @param locale such as `de_DE`; empty for English. */
  setLocale(locale: string): void;
  /**
   * The language that a user chose, else that of the site. Undefined is English on a site that is English too.
   *
   * @param locale of the user's profile; empty for that of the site.
   */
  language(locale?: string): Language | undefined;
  /** Whether the host has texts in the language of a locale. */
  hasCatalog(locale: string): boolean;
  /** The locales that the host or a plugin has texts in, each with its name in its own language; English first. */
  locales(): readonly { readonly value: string; readonly label: string }[];
  /** The language of the request that runs, else of the site. */
  current(): Language | undefined;
}

const pluralForms = ['zero', 'one', 'two', 'few', 'many', 'other'];
const rightToLeft: ReadonlySet<string> = new Set(['ar', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi']);

/** The catalogs of host and plugins. Each is read when a request needs its language. */
export function createTranslations({ log }: { readonly log: Pick<Logger, 'error'> }): Translations {
  const directories = new Map<string, string>();
  const languages = new Map<string, Language>();
  const declarations = new Set<{ readonly slug: string; readonly texts: () => readonly string[] }>();
  /** The plugins that declare a text, the first one first. Null: collected when next needed. */
  let owners: Map<string, Set<string>> | null = null;
  let siteLocale = '';

  const readCatalog = (directory: string, name: string): Catalog => {
    const file = join(directory, `${name}.json`);
    if (!existsSync(file)) return {};
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Catalog;
    } catch (error) {
      log.error('Translations cannot be read', { event: 'translations_unreadable', file, error });
      return {};
    }
  };
  const readCatalogs = (locale: string): Map<string, Catalog> =>
    new Map(
      [...directories].map(([slug, directory]) => [
        slug,
        { ...readCatalog(directory, locale.split('_', 1)[0] ?? ''), ...readCatalog(directory, locale) },
      ]),
    );
  const declared = (): Map<string, Set<string>> => {
    if (owners !== null) return owners;
    owners = new Map();
    for (const { slug, texts } of declarations)
      for (const text of texts()) {
        const slugs = owners.get(text) ?? new Set();
        owners.set(text, slugs.add(slug));
      }
    return owners;
  };
  const ownerOf = (text: string): string | undefined => declared().get(text)?.values().next().value;
  const language = (chosen = ''): Language | undefined => {
    const locale = chosen || siteLocale;
    if (isEnglish(locale) && isEnglish(siteLocale)) return undefined;
    let known = languages.get(locale);
    if (!known) languages.set(locale, (known = openLanguage(locale, () => readCatalogs(locale), ownerOf)));
    return known;
  };
  const current = (): Language | undefined => currentLanguage() ?? language();

  return {
    forPlugin: (slug) => ({
      __: (text, values = {}) => fill(current()?.find(text, slug) ?? text, values),
      _n: (one, many, values) =>
        fill(current()?.findPlural(one, values.count, slug) ?? (values.count === 1 ? one : many), values),
      inSiteLanguage: (work) => inLanguage(language(), work),
    }),
    addSource(slug, directory) {
      directories.set(slug, directory);
      languages.clear();
      return () => {
        if (directories.get(slug) !== directory) return;
        directories.delete(slug);
        languages.clear();
      };
    },
    addTexts(slug, texts) {
      const declaration = { slug, texts };
      declarations.add(declaration);
      owners = null;
      return () => {
        declarations.delete(declaration);
        owners = null;
      };
    },
    declaredBy: (slug) => [...declared()].filter(([, slugs]) => slugs.has(slug)).map(([text]) => text),
    setLocale(next) {
      siteLocale = next;
    },
    language,
    hasCatalog: (locale) =>
      locale === pseudoLocale ||
      [locale, locale.split('_', 1)[0] ?? ''].some((name) =>
        existsSync(join(directories.get('host') ?? '', `${name}.json`)),
      ),
    locales() {
      const names = [...directories.values()].flatMap(readLocales);
      return ['en', ...[...new Set(names)].sort()].map((value) => ({ value, label: nameOf(value) }));
    },
    current,
  };
}

function readLocales(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).map((file) => /^([a-z]{2,3}(?:_\w+)?)\.json$/.exec(file)?.[1] ?? '');
  return names.filter((name) => !isEnglish(name));
}

function nameOf(locale: string): string {
  const tag = locale === 'en' ? locale : readLocale(locale).tag;
  const name = new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? locale;
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
}

function isEnglish(locale: string): boolean {
  return locale === '' || (/^en(_|$)/.test(locale) && locale !== pseudoLocale);
}

function openLanguage(
  locale: string,
  read: () => ReadonlyMap<string, Catalog>,
  ownerOf: (text: string) => string | undefined,
): Language {
  if (locale === pseudoLocale) return pseudoLanguage;
  const { tag, plurals } = readLocale(locale);
  const categories = plurals.resolvedOptions().pluralCategories as readonly string[];
  const forms = pluralForms.filter((form) => categories.includes(form));
  return {
    tag,
    direction: rightToLeft.has(tag.split('-', 1)[0] ?? '') ? 'rtl' : 'ltr',
    ...createTextFinder({ read, tag, ownerOf, formOf: (count) => forms.indexOf(plurals.select(count)) }),
  };
}

/** English for a locale that is none: the option can be written without its setting's check. */
function readLocale(locale: string): { readonly tag: string; readonly plurals: Intl.PluralRules } {
  // `de_DE_formal`: variants of WordPress are no part of a language tag.
  const tag = isEnglish(locale) ? 'en-GB' : locale.split('_').slice(0, 3).filter(isSubtag).join('-');
  try {
    return { tag, plurals: new Intl.PluralRules(tag) };
  } catch {
    return { tag: 'en-GB', plurals: new Intl.PluralRules('en') };
  }
}

function isSubtag(part: string, index: number): boolean {
  return index === 0 || /^([A-Z][a-z]{3}|[A-Z]{2})$/.test(part);
}

function fill(text: string, values: TranslationValues): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : placeholder,
  );
}
