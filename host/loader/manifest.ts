import { readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import satisfies from 'semver/functions/satisfies.js';
import valid from 'semver/functions/valid.js';
import validRange from 'semver/ranges/valid.js';
import type { PluginManifest } from '#plugin-api';

/** A plugin whose manifest is in order. */
export interface PluginSource {
  readonly manifest: PluginManifest;
  /** Absolute, with symbolic links resolved. */
  readonly directory: string;
  /** Absolute path of the entry module. */
  readonly entry: string;
  /** Lies in a folder `must-use`: always active, started first. */
  readonly mustUse?: boolean;
  /** Comes with the host, and is updated with it: its folder is never removed or replaced. */
  readonly shipped?: boolean;
}

/** As it is written, before the defaults. */
type GivenManifest = Omit<PluginManifest, 'description' | 'main' | 'requires'> &
  Partial<Pick<PluginManifest, 'description' | 'main' | 'requires'>>;

/** Thrown with one sentence a fault, each beginning with the name of the member. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/** Slugs that stand for parts of the host itself: owners of hooks and migrations, folders of views and assets. */
const reserved = ['host', 'admin', 'site', 'core', 'must-use'];

interface Member {
  readonly required?: boolean;
  readonly accepts: (value: unknown) => boolean;
  /** The end of a sentence that begins "must be". */
  readonly expected: string;
}

const isRange = (value: unknown): boolean => typeof value === 'string' && validRange(value) !== null;
const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' && value.length <= longest;

/** Written out rather than as a JSON Schema: loading ajv would double what the loader costs at start, for eight members. */
const members: Readonly<Record<string, Member>> = {
  slug: {
    required: true,
    accepts: (value) => isText(value, 60) && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(value),
    expected: 'lower-case letters, digits and dashes, for example my-plugin',
  },
  name: {
    required: true,
    accepts: (value) => isText(value, 200) && value.trim() !== '',
    expected: 'a text that is not empty',
  },
  version: {
    required: true,
    accepts: (value) => isText(value, 100) && valid(value) !== null,
    expected: 'a semantic version, for example 1.0.0',
  },
  description: { accepts: (value) => isText(value, 2_000), expected: 'a text' },
  main: {
    accepts: (value) => isText(value, 500) && value !== '',
    expected: 'the path of the entry module inside the folder, for example index.js',
  },
  host: { required: true, accepts: isRange, expected: 'a range of host versions, for example ^1' },
  requires: {
    accepts: (value) => isObject(value) && Object.values(value).every(isRange),
    expected: 'an object of slugs and version ranges, for example {"svc": "^1"}',
  },
  autoActivate: { accepts: (value) => typeof value === 'boolean', expected: 'true or false' },
};

/**
 * Reads and checks a plugin's `plugin.json`.
 *
 * @param folder name of the plugin's folder, which its slug must equal.
 * @returns null when there is no such file: the folder is not a plugin.
 * @throws ManifestError with every fault.
 */
export async function readManifest({
  directory,
  folder,
  hostVersion,
}: {
  directory: string;
  folder: string;
  hostVersion: string;
}): Promise<PluginSource | null> {
  const text = await readFile(join(directory, 'plugin.json'), 'utf8').catch(missingAsNull);
  if (text === null) return null;
  const manifest = checkMembers(parse(text));
  if (manifest.slug !== folder)
    throw new ManifestError(
      `"slug" is '${manifest.slug}' but the folder is named '${folder}'; give both the same name.`,
    );
  if (reserved.includes(manifest.slug))
    throw new ManifestError(`"slug" '${manifest.slug}' is kept for the host; choose another name.`);
  if (!satisfies(hostVersion, manifest.host, { includePrerelease: true })) {
    throw new ManifestError(
      `It needs host ${manifest.host}, and this is host ${hostVersion}; install a version of the plugin made for this host.`,
    );
  }
  const home = await realpath(directory);
  const { main, entry } = await findEntry(home, manifest.main);
  return {
    manifest: { ...manifest, description: manifest.description ?? '', requires: manifest.requires ?? {}, main },
    directory: home,
    entry,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ManifestError(`plugin.json is not JSON: ${(error as Error).message}.`);
  }
}

/** Members that are not known here are left alone. */
function checkMembers(manifest: unknown): GivenManifest {
  if (!isObject(manifest)) throw new ManifestError('plugin.json must hold an object.');
  const faults = Object.entries(members).flatMap(([name, { required, accepts, expected }]) => {
    const value = manifest[name];
    if (value === undefined) return required ? [`"${name}" is missing; it must be ${expected}.`] : [];
    return accepts(value) ? [] : [`"${name}" must be ${expected}.`];
  });
  if (faults.length > 0) throw new ManifestError(faults.join(' '));
  return manifest as unknown as GivenManifest;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function findEntry(home: string, given: string | undefined): Promise<{ main: string; entry: string }> {
  for (const main of given === undefined ? ['index.ts', 'index.js'] : [given]) {
    if (isAbsolute(main)) throw outside(main);
    const path = join(home, main);
    if (!path.startsWith(home + sep)) throw outside(main);
    const entry = await realpath(path).catch(missingAsNull);
    if (entry === null) continue;
    // A link inside the folder may lead out of it.
    if (!entry.startsWith(home + sep)) throw outside(main);
    return { main, entry };
  }
  throw new ManifestError(
    given === undefined
      ? 'There is neither an index.ts nor an index.js; name the entry module in "main".'
      : `"main" is '${given}', and there is no such file in the folder.`,
  );
}

function outside(main: string): ManifestError {
  return new ManifestError(
    `"main" is '${main}', which is not inside the plugin's folder; it must be ${members['main']?.expected ?? ''}.`,
  );
}

function missingAsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
