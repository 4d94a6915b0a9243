import { createPrivateKey, createPublicKey, randomUUID, sign } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isRecord, type Clock, type DocumentsApi } from '#plugin-api';
import { InstallError } from '../loader/install/allowance.ts';
import { stage } from '../loader/install/stage.ts';
import { hostVersion } from '../site.ts';

export interface Packing {
  readonly folder: string;
  /** Folder for the zip file. */
  readonly output: string;
  /** Path of a private ed25519 key (PEM), which signs the zip file. Default: no signature. */
  readonly key?: string | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly documents: DocumentsApi;
}

export interface Packed {
  readonly slug: string;
  readonly version: string;
  readonly file: string;
  readonly files: number;
  /** For `updateKey` in the manifest; only if it was signed. */
  readonly updateKey?: string;
  /** Why sites may not take it as an update. */
  readonly warning?: string;
}

/**
 * Writes `<slug>-<version>.zip`. The same files give the same bytes, on every machine. With a key, `<file>.sig` is its
 * signature.
 *
 * @throws InstallError for everything that an installation refuses.
 */
export async function packPlugin({ folder, output, key, clock, documents }: Packing): Promise<Packed> {
  const files = await listPackedFiles(folder);
  const work = join(tmpdir(), `svc-pack-${randomUUID()}`);
  await mkdir(work, { recursive: true });
  try {
    const zip = join(work, 'plugin.zip');
    await writeZip(folder, files, zip);
    const staged = await stage({ path: zip, pluginDir: work, hostVersion, clock, documents });
    await staged.discard();
    const { slug, version } = staged.source.manifest;
    const file = join(output, `${slug}-${version}.zip`);
    await mkdir(output, { recursive: true });
    const bytes = await readFile(zip);
    const unfinished = `${file}.${randomUUID()}`;
    await writeFile(unfinished, bytes);
    await rename(unfinished, file);
    await rm(`${file}.sig`, { force: true });
    const updateKey = key === undefined ? undefined : await writeSignature(bytes, `${file}.sig`, key);
    const warning = warnAboutKey(updateKey, staged.source.manifest.updateKey);
    return {
      ...{ slug, version, file, files: files.length },
      ...(updateKey !== undefined && { updateKey }),
      ...(warning !== null && { warning }),
    };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** @param named `updateKey` of the manifest. Another key signs the last update before a new key counts. */
function warnAboutKey(signed: string | undefined, named: string | null | undefined): string | null {
  if (!named || signed === named) return null;
  return signed === undefined
    ? 'plugin.json has an updateKey, and this file is not signed: sites that have the plugin refuse it. Pack it with --key.'
    : 'The key is not the updateKey of plugin.json: only sites whose version of the plugin names this key take the update.';
}

/** Without packages for development, which are not packed and may have paths of this machine. */
function withoutDevelopment(text: string): string {
  const { devDependencies: _left, ...manifest } = JSON.parse(text) as Record<string, unknown>;
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

async function writeSignature(bytes: Buffer, file: string, keyFile: string): Promise<string> {
  const key = createPrivateKey(await readFile(keyFile, 'utf8'));
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Error(`${keyFile} is no ed25519 key. Make one: openssl genpkey -algorithm ed25519 -out update-key.pem`);
  await writeFile(file, `${sign(null, bytes, key).toString('base64')}\n`);
  return Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');
}

/** Any date would do that zip files can hold; in the zone of the machine, because they hold local times. */
const fixedTime = new Date(1980, 0, 1);

async function writeZip(folder: string, files: readonly string[], target: string): Promise<void> {
  const { ZipFile } = await import('yazl');
  const zip = new ZipFile();
  for (const file of files) {
    const bytes = await readFile(join(folder, file));
    const packed = file === 'package.json' ? Buffer.from(withoutDevelopment(bytes.toString())) : bytes;
    zip.addBuffer(packed, file, {
      mtime: fixedTime,
      mode: 0o100644,
      forceDosTimestamp: true,
    });
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(target));
}

/**
 * The files of a plugin that are shipped, sorted, with `/`: without names that begin with a dot, what `.distignore` lists, and
 * packages that are not among the `dependencies` of package.json, directly or through others.
 *
 * @throws InstallError for links and special files.
 */
export async function listPackedFiles(folder: string): Promise<string[]> {
  const ignores = await readIgnored(folder);
  const packages = await findPackages(folder);
  const files: string[] = [];
  const visit = async (directory: string): Promise<void> => {
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      const name = relative(folder, path).replaceAll(sep, '/');
      if (entry.name.startsWith('.') || ignores(name)) continue;
      if (name === 'node_modules') {
        for (const each of packages) if (existsSync(join(path, each))) await visit(join(path, each));
      } else if (entry.isDirectory()) await visit(path);
      else if (entry.isFile()) files.push(name);
      else throw new InstallError(`'${name}' is neither a file nor a folder; replace links with what they lead to.`);
    }
  };
  await visit(folder);
  return files.sort();
}

/** Names of the packages that the plugin needs at run time. */
export async function findPackages(folder: string): Promise<string[]> {
  const found = new Set<string>();
  const visit = async (directory: string): Promise<void> => {
    const text = await readFile(join(directory, 'package.json'), 'utf8').catch(() => '{}');
    const { dependencies } = JSON.parse(text) as { readonly dependencies?: unknown };
    for (const name of isRecord(dependencies) ? Object.keys(dependencies) : []) {
      if (found.has(name)) continue;
      found.add(name);
      await visit(join(folder, 'node_modules', name));
    }
  };
  await visit(folder);
  return [...found].sort();
}

/** Lines of `.distignore`: names at any depth, or paths with a slash from the folder; `*` matches any part of a name. */
async function readIgnored(folder: string): Promise<(name: string) => boolean> {
  const text = await readFile(join(folder, '.distignore'), 'utf8').catch(() => '');
  const patterns = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace(/\/$/, ''));
  const toExpression = (pattern: string): RegExp =>
    new RegExp(
      `^${pattern
        .replace(/^\//, '')
        .split('*')
        .map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, '\\$&'))
        .join('[^/]*')}$`,
    );
  const paths = patterns.filter((pattern) => pattern.includes('/')).map(toExpression);
  const names = patterns.filter((pattern) => !pattern.includes('/')).map(toExpression);
  return (name) =>
    paths.some((path) => path.test(name)) || names.some((each) => each.test(name.slice(name.lastIndexOf('/') + 1)));
}
