import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** What a zip is made of: contents by name; null makes a folder. */
export type ZipContents = Readonly<Record<string, string | Buffer | null>>;

/** Writes a zip. Unix modes by name make entries of other kinds, links for example. */
export async function writeZip({
  file,
  contents,
  modes = {},
}: {
  readonly file: string;
  readonly contents: ZipContents;
  readonly modes?: Readonly<Record<string, number>>;
}): Promise<string> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(contents)) {
    const mode = modes[name];
    if (content === null) zip.addEmptyDirectory(name);
    else zip.addBuffer(Buffer.from(content), name, mode === undefined ? {} : { mode });
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(file));
  return file;
}

/** Gives an entry another name of the same length, which no honest tool would write. */
export async function renameEntry({
  file,
  from,
  to,
}: {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}): Promise<string> {
  if (from.length !== to.length) throw new Error('Both names must be of one length.');
  const bytes = await readFile(file, 'latin1');
  await writeFile(file, bytes.replaceAll(from, to), 'latin1');
  return file;
}

/** Lets every entry of the directory claim another size than its content has. */
export async function claimSize(file: string, size: number): Promise<string> {
  const bytes = await readFile(file);
  for (let at = bytes.indexOf('PK\x01\x02', 0, 'latin1'); at >= 0; at = bytes.indexOf('PK\x01\x02', at + 4, 'latin1'))
    bytes.writeUInt32LE(size, at + 24);
  await writeFile(file, bytes);
  return file;
}

/** The files of a plugin, as a zip holds them. */
export function pluginFiles(manifest: object, entry: string): Record<string, string> {
  return {
    'plugin.json': JSON.stringify({
      slug: 'sample',
      name: 'Sample',
      version: '1.0.0',
      host: '^1',
      main: 'index.js',
      ...manifest,
    }),
    'package.json': '{"type":"module"}',
    'index.js': entry,
  };
}
