import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { textsOf, type Texts } from './texts.ts';

/** A text, or its plural forms, by English text. */
export type Catalog = Readonly<Record<string, string | readonly string[]>>;

const folders: Readonly<Record<string, string>> = {
  host: 'host/languages',
  svc: 'plugins/svc/languages',
  sandbox: 'plugins/sandbox/languages',
};

export const translatedSlugs = Object.keys(folders);

function fileOf(slug: string, locale: string): URL {
  const folder = folders[slug];
  if (folder === undefined) throw new Error(`There are catalogs of ${translatedSlugs.join(', ')}, not of '${slug}'.`);
  return new URL(`../../${folder}/${locale}.json`, import.meta.url);
}

export function readCatalog(slug: string, locale: string): Catalog {
  return JSON.parse(readFileSync(fileOf(slug, locale), 'utf8')) as Catalog;
}

/** The texts without a translation, to be filled in: an array has a place for each plural form. */
export function missingTexts(texts: Texts, catalog: Catalog, forms: number): Catalog {
  return Object.fromEntries(
    [...texts]
      .filter(([text]) => !isFilled(catalog[text]))
      .map(([text, { many }]) => [text, many === undefined ? '' : Array.from({ length: forms }, () => '')]),
  );
}

function isFilled(translation: string | readonly string[] | undefined): boolean {
  return translation !== undefined && [translation].flat().every((one) => one !== '');
}

/** What is wrong in a catalog, a sentence each. */
export function catalogErrors(texts: Texts, catalog: Catalog, forms: number): string[] {
  return Object.entries(catalog).flatMap(([text, translation]) => {
    const found = texts.get(text);
    if (!found) return [`“${text}” is no text of the program. Remove it.`];
    const wanted = found.many === undefined ? 0 : forms;
    const length = typeof translation === 'string' ? 0 : translation.length;
    if (length !== wanted)
      return [`“${text}” needs ${wanted === 0 ? 'one text' : `an array of ${String(wanted)} texts`}.`];
    return [translation].flat().flatMap((one) => translationErrors(text, one));
  });
}

function translationErrors(text: string, translation: string): string[] {
  const [had, has] = [marksOf(text), marksOf(translation)];
  const lacks = had.filter((mark) => !has.includes(mark));
  const extra = has.filter((mark) => !had.includes(mark));
  return [
    ...(lacks.length > 0 ? [`The translation of “${text}” lacks ${lacks.join(', ')}.`] : []),
    ...(extra.length > 0 ? [`The translation of “${text}” has ${extra.join(', ')}, which the text lacks.`] : []),
    ...(areNested(translation)
      ? []
      : [`The translation of “${text}” closes elements in another order than it opens them.`]),
  ];
}

/** Values such as `{name}`, and elements: `<1>`, `</1>`. */
function marksOf(text: string): string[] {
  return [...new Set(text.match(/\{\w+\}|<\/?\d+>/g))].sort();
}

function areNested(text: string): boolean {
  const open: string[] = [];
  for (const [, slash, number = ''] of text.matchAll(/<(\/?)(\d+)>/g))
    if (slash === '') open.push(number);
    else if (open.pop() !== number) return false;
  return open.length === 0;
}

export function pluralFormsOf(locale: string): number {
  return new Intl.PluralRules(locale.replaceAll('_', '-')).resolvedOptions().pluralCategories.length;
}

/**
 * `npm run texts -- de` prints the texts without German by catalog, to be filled in. `npm run texts -- de filled.json` adds
 * what is filled in, removes what the program no longer has, and prints errors.
 */
async function main([locale = 'de', filledFile]: readonly string[]): Promise<void> {
  const forms = pluralFormsOf(locale);
  const filled =
    filledFile === undefined ? {} : (JSON.parse(readFileSync(filledFile, 'utf8')) as Record<string, Catalog>);
  const missing: Record<string, Catalog> = {};
  for (const slug of translatedSlugs) {
    const texts = textsOf(slug);
    const given = Object.entries(filled[slug] ?? {}).filter(([, translation]) => isFilled(translation));
    const errors = catalogErrors(texts, Object.fromEntries(given), forms);
    for (const error of errors) process.stderr.write(`${slug}: ${error}\n`);
    if (errors.length > 0) process.exitCode = 1;
    else if (filledFile !== undefined) await writeCatalog(slug, { locale, texts, added: Object.fromEntries(given) });
    missing[slug] = missingTexts(texts, readCatalog(slug, locale), forms);
  }
  if (filledFile === undefined) process.stdout.write(`${JSON.stringify(missing, null, 2)}\n`);
  else
    for (const slug of translatedSlugs)
      process.stderr.write(`${slug}: ${String(Object.keys(missing[slug] ?? {}).length)} texts are missing\n`);
}

interface Addition {
  readonly locale: string;
  readonly texts: Texts;
  readonly added: Catalog;
}

async function writeCatalog(slug: string, { locale, texts, added }: Addition): Promise<void> {
  const all = { ...readCatalog(slug, locale), ...added };
  const kept = Object.fromEntries(
    [...texts.keys()].flatMap((text) => (Object.hasOwn(all, text) ? [[text, all[text]]] : [])),
  );
  const file = fileOf(slug, locale);
  writeFileSync(file, await format(JSON.stringify(kept), { ...(await resolveConfig('package.json')), parser: 'json' }));
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
