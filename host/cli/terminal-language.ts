import { fileURLToPath } from 'node:url';
import { errorText, type Language } from '#plugin-api';
import { readTerminalLocale } from '../start/config.ts';
import { createTranslations, type Translations } from '../translations.ts';

/** Translates a finished English text. */
export type Translate = (text: string) => string;

export interface TerminalLanguage {
  /** Of the environment, such as `de_DE`; empty for English. */
  readonly locale: string;
  readonly translations: Pick<Translations, 'language' | 'hasCatalog'>;
}

/**
 * The language in which a command line prints help, messages and errors. English, which costs nothing, where the host has no
 * catalog, and with `--json`, which programs read.
 */
export function translatorFor({ locale, translations }: TerminalLanguage, argv: readonly string[]): Translate {
  const isForPrograms = argv.some((argument) => /^--json(=|$)/.test(argument)) && !argv.includes('--help');
  if (isForPrograms || !translations.hasCatalog(locale)) return (text) => text;
  const language: Language | undefined = translations.language(locale);
  return (text) =>
    text
      .split('\n')
      .map((line) => language?.translate(line) ?? line)
      .join('\n');
}

/** The translator of a process whose site did not open, which has the catalog of the host alone. */
export function translatorWithoutSite(locale: string, argv: readonly string[] = []): Translate {
  const translations = createTranslations({ log: { error: () => undefined } });
  translations.addSource('host', fileURLToPath(new URL('../languages', import.meta.url)));
  return translatorFor({ locale, translations }, argv);
}

/**
 * An error that ended a process whose site did not open, in the language of the terminal.
 *
 * @param argv of a command. With `--json`, which programs read, the text is English.
 */
export function describeStartError(error: unknown, argv: readonly string[] = []): string {
  return translatorWithoutSite(readTerminalLocale(), argv)(errorText(error));
}
