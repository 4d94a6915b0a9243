import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A plugin folder of its own for a test. */
export interface PluginFolders {
  readonly directory: string;
  /** Writes files of a plugin, `plugin.json` included unless one is given; answers the plugin's folder. */
  write(
    slug: string,
    plugin: { readonly manifest?: object; readonly files: Readonly<Record<string, string>> },
  ): Promise<string>;
  remove(): Promise<void>;
}

export async function createPluginFolders(): Promise<PluginFolders> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'plugins-')));
  return {
    directory,
    async write(slug, { manifest = {}, files }) {
      const folder = join(directory, slug);
      const basics = { slug, name: `Plugin ${slug}`, version: '1.0.0', host: '^1', main: Object.keys(files)[0] };
      const all = {
        'package.json': '{"type":"module"}',
        'plugin.json': JSON.stringify({ ...basics, ...manifest }),
        ...files,
      };
      for (const [file, content] of Object.entries(all)) {
        await mkdir(dirname(join(folder, file)), { recursive: true });
        await writeFile(join(folder, file), content);
      }
      return folder;
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
