import type { Config } from '../start/config.ts';

const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);

/** Prints texts of the program in the language of the terminal. Log lines stay English. */
export async function textPrinter(
  { locale }: Pick<Config, 'locale'>,
  print: (line: string) => void = writeLine,
): Promise<(text: string) => void> {
  if (locale === '') return print;
  const { translatorWithoutSite } = await import('./terminal-language.ts');
  const translate = translatorWithoutSite(locale);
  return (text) => print(translate(text));
}
