import { errorText } from '#plugin-api';
import { readTerminalLocale } from '../config.ts';
import { translatorWithoutSite } from './terminal-language.ts';

/**
 * An error that ended a process whose site did not open, in the language of the terminal.
 *
 * @param argv of a command. With `--json`, which programs read, the text is English.
 */
export function describeStartError(error: unknown, argv: readonly string[] = []): string {
  return translatorWithoutSite(readTerminalLocale(), argv)(errorText(error));
}
