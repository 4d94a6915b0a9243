import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '#plugin-api';
import { root } from '../sources/files.ts';
import { createTranslations } from '../translations.ts';
import { hasLetters, translateTemplate } from '../views/translate-template.ts';
import type { Finding } from './check.ts';
import { lineAt } from './check-template.ts';

/** The translations of a plugin, with those of the host that its texts get too. */
export interface PluginCatalogs {
  /** Catalogs that cannot be read. */
  readonly findings: readonly Finding[];
  /** The catalogs that lack a text, such as `languages/de.json`. None if the plugin has no translations. */
  lacking(text: string): readonly string[];
}

export function openCatalogs(folder: string, slug: string): PluginCatalogs {
  const directory = join(folder, 'languages');
  const names = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.json')) : [];
  const findings: Finding[] = [];
  const readable = names.filter((name) => {
    try {
      JSON.parse(readFileSync(join(directory, name), 'utf8'));
      return true;
    } catch (error) {
      const message = `The translations cannot be read: ${errorText(error)}. Write a JSON object.`;
      findings.push({ level: 'error', rule: 'translation', at: `languages/${name}`, message });
      return false;
    }
  });
  const translations = createTranslations({ log: { error: () => undefined } });
  translations.addSource('host', join(root, 'host', 'languages'));
  translations.addSource(slug, directory);
  return {
    findings,
    lacking: (text) =>
      readable
        .filter((name) => {
          const language = translations.language(name.replace(/\.json$/, ''));
          const found = language?.find(text, slug) ?? language?.findPlural(text, 1, slug);
          return language !== undefined && found === undefined;
        })
        .map((name) => `languages/${name}`),
  };
}

/** Findings for texts that a catalog lacks. Each text is reported once. */
export function reportLacking(
  catalogs: PluginCatalogs,
  texts: readonly { readonly text: string; readonly at: string }[],
): Finding[] {
  const reported = new Set<string>();
  return texts.flatMap(({ text, at }) => {
    if (reported.has(text) || !hasLetters(text)) return [];
    reported.add(text);
    return catalogs.lacking(text).map((file) => ({
      ...{ level: 'error', rule: 'translation', at },
      message: `${file} lacks the text '${text.length > 80 ? `${text.slice(0, 80)}…` : text}'.`,
    }));
  });
}

/** The texts of a template: as they are written, and in `{{__ "..."}}`. None if it cannot be parsed, which a rendering says. */
export async function textsOfTemplate(name: string, source: string): Promise<{ text: string; at: string }[]> {
  const found: string[] = [...source.matchAll(/\b_[_n]\s+"([^"]+)"/g)].map(([, text = '']) => text);
  try {
    translateTemplate((await import('handlebars')).default.parse(source), (text) => {
      found.push(text);
      return undefined;
    });
  } catch {
    return [];
  }
  const flat = source.replaceAll(/\s/g, ' ');
  return found.map((text) => {
    // The first words without a value.
    const [start = ''] = text.split(/[{<]/, 1);
    return { text, at: `${name}:${lineAt(source, Math.max(0, flat.indexOf(start.trim() || text)))}` };
  });
}

/** The texts of a module that it translates: the first arguments of `__` and `_n`. */
export function textsOfCode(name: string, source: string): { text: string; at: string }[] {
  return [...source.matchAll(/\b_[_n]\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g)].map(
    ({ index, 1: single, 2: double }) => ({
      text: (single ?? double ?? '').replaceAll(/\\(.)/g, '$1'),
      at: `${name}:${lineAt(source, index)}`,
    }),
  );
}
