import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reserved } from '../loader/manifest.ts';
import { hostVersion } from '../site.ts';

export interface NewPlugin {
  readonly slug: string;
  /** Folder for new plugins, absolute. */
  readonly directory: string;
  readonly language: 'ts' | 'js';
  /** Default: the slug as words. */
  readonly name?: string;
  /** Slugs that are taken, with their folders. */
  readonly taken: readonly { readonly slug: string; readonly directory?: string | null }[];
}

/**
 * Creates a plugin to start from: manifest, settings page with a secret, routes on an own table, job, migration, event and test.
 *
 * @returns absolute path of its folder.
 * @throws Error if the slug is invalid or taken: a second plugin of one slug would replace the first one.
 */
export async function createPlugin(plugin: NewPlugin): Promise<string> {
  const { slug, directory } = plugin;
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(slug) || slug.length > 60)
    throw new Error(
      `'${slug}' is not a valid plugin name; use lowercase letters, digits and hyphens, starting with a letter.`,
    );
  if (reserved.includes(slug)) throw new Error(`'${slug}' is reserved for the host; choose another name.`);
  const folder = join(directory, slug);
  const taken = plugin.taken.find((each) => each.slug === slug);
  if (taken && taken.directory !== folder)
    throw new Error(
      `The plugin '${slug}' already exists${taken.directory ? ` in ${taken.directory}` : ''}; choose another name.`,
    );
  try {
    await mkdir(directory, { recursive: true });
    await mkdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new Error(`The folder ${folder} already exists.`, { cause: error });
    throw error;
  }
  for (const [file, text] of await pluginFiles(plugin)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return folder;
}

async function pluginFiles({ slug, language, name }: NewPlugin): Promise<[string, string][]> {
  const template = await readFile(fileURLToPath(new URL('.', import.meta.url)) + 'new-plugin.txt', 'utf8');
  const values: Readonly<Record<string, string>> = {
    __slug__: slug,
    __prefix__: slug.replaceAll('-', '_'),
    __name__: (name ?? asWords(slug)).replace(/['"`\\{}]/g, ''),
    __ext__: language,
    __hostVersion__: hostVersion,
    __hostMajor__: hostVersion.split('.', 1)[0] ?? '',
  };
  const text = Object.entries(values).reduce(
    (filled, [placeholder, value]) => filled.replaceAll(placeholder, value),
    template,
  );
  // What only one of the two languages has.
  const [own, other] = language === 'ts' ? (['⟦⟧', '⟪⟫'] as const) : (['⟪⟫', '⟦⟧'] as const);
  return dropBetween(text, other)
    .replaceAll(own.charAt(0), '')
    .replaceAll(own.charAt(1), '')
    .split(/^=== /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return [part.slice(0, end), part.slice(end + 1)];
    });
}

function dropBetween(text: string, marks: string): string {
  return text
    .split(marks.charAt(0))
    .map((part, index) => (index === 0 ? part : part.slice(part.indexOf(marks.charAt(1)) + 1)))
    .join('');
}

/** `order-helper` -> `Order Helper`. */
function asWords(slug: string): string {
  return slug
    .split('-')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(' ');
}
