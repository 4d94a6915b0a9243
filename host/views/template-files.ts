import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { Undo } from '#plugin-api';

export interface TemplateFile {
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly changed: number;
}

/** Where templates lie: the site's folders first, then the folder of the plugin that the name begins with. */
export interface TemplateFiles {
  /** @throws Error that names the folders searched. */
  find(template: string): Promise<TemplateFile>;
  /** Adds the folder of a plugin's own templates; a later one of the same slug is searched first. */
  addSource(slug: string, directory: string): Undo;
}

const namePattern = /^[a-z0-9][\w-]*(\/[\w-]+)+$/i;

export function createTemplateFiles(directories: readonly string[]): TemplateFiles {
  const sources: { readonly slug: string; readonly directory: string }[] = [];
  return {
    async find(template) {
      if (!namePattern.test(template)) {
        throw new Error(
          `'${template}' is no name of a template. Write <slug>/<name> without ending, for example svc/settings.`,
        );
      }
      const [slug = '', ...rest] = template.split('/');
      const own = sources
        .filter((source) => source.slug === slug)
        .map((source) => join(source.directory, `${rest.join('/')}.hbs`));
      const candidates = [...directories.map((directory) => join(directory, `${template}.hbs`)), ...own];
      for (const path of candidates) {
        const changed = await modified(path);
        if (changed !== null) return { path, changed };
      }
      throw new Error(`There is no template '${template}'. Searched for: ${candidates.join(', ')}`);
    },
    addSource(slug, directory) {
      const source = { slug, directory };
      sources.unshift(source);
      return () => {
        const index = sources.indexOf(source);
        if (index >= 0) sources.splice(index, 1);
      };
    },
  };
}

async function modified(path: string): Promise<number | null> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.mtimeMs : null;
  } catch {
    return null;
  }
}
