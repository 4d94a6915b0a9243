import { errorText } from '#plugin-api';
import { readTerminalLocale } from '../start/config.ts';
import type { PluginFolders } from '../log/plugin-folders.ts';
import { translatorWithoutSite } from './terminal-language.ts';

/** Names the plugin of an error that nothing in a command caught, once for each sentence. */
export interface PluginErrors {
  /** Reports and prints the error if it is a plugin's. False: it is not. */
  contain(error: unknown): boolean;
  printExit(slug: string): void;
}

export function createPluginErrors(folders: Pick<PluginFolders, 'ownerOf' | 'report' | 'onReport'>): PluginErrors {
  const printed = new Set<string>();
  const write = (sentence: string): void => {
    if (printed.has(sentence)) return;
    printed.add(sentence);
    process.stderr.write(`${translatorWithoutSite(readTerminalLocale())(sentence)}\n`);
  };
  folders.onReport((slug, error) =>
    write(`The plugin '${slug}' failed, and the command went on without it: ${errorText(error)}`),
  );
  return {
    contain(error) {
      const slug = folders.ownerOf(error);
      if (slug !== null) folders.report(slug, error);
      return slug !== null;
    },
    printExit: (slug) =>
      write(`The plugin '${slug}' ended the command. To run it without the plugin, set PLUGINS=${slug}.`),
  };
}
