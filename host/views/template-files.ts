import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { Undo } from '#plugin-api';

export interface TemplateFile {
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly changed: number;
}

/** Finds templates: in the site's folders first, then in the folder of the plugin named by the first part. */
export interface TemplateFiles {
  /** @throws Error that names the folders searched. */
  find(template: string): Promise<TemplateFile>;
  /** Adds the folder of a plugin's own templates; later ones of a slug are searched first. */
  addSource(slug: string, directory: string): Undo;
}

const namePattern = /^[a-z0-9][\w-]*(\/[\w-]+)+$/i;

export function createTemplateFiles(directories: readonly string[]): TemplateFiles {
  const sources: { readonly slug: string; readonly directory: string }[] = [];
  return {
    async find(template) {
      if (!namePattern.test(template)) {
        throw new Error(
          `'${template}' is not a template name. Use <slug>/<name> without extension, for example svc/settings.`,
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
      throw new Error(`Template '${template}' not found. Searched: ${candidates.join(', ')}`);
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
