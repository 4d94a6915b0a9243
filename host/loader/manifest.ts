import { readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { Ajv } from 'ajv';
import type { ErrorObject } from 'ajv';
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
}

/** Thrown with one sentence a fault, each beginning with the name of the member. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/** Slugs that stand for parts of the host itself: owners of hooks and migrations, folders of views and assets. */
const reserved = ['host', 'admin', 'site', 'core'];

/** What each member must be, as the end of a sentence that begins "must be". */
const expected: Readonly<Record<string, string>> = {
  slug: 'lower-case letters, digits and dashes, for example my-plugin',
  name: 'a text that is not empty',
  version: 'a semantic version, for example 1.0.0',
  description: 'a text',
  main: 'the path of the entry module inside the folder, for example index.js',
  host: 'a range of host versions, for example ^1',
  requires: 'an object of slugs and version ranges, for example {"svc": "^1"}',
  autoActivate: 'true or false',
};

const schema = {
  type: 'object',
  required: ['slug', 'name', 'version', 'host'],
  properties: {
    slug: { type: 'string', pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 60 },
    name: { type: 'string', minLength: 1, maxLength: 200 },
    version: { type: 'string', format: 'version' },
    description: { type: 'string', default: '' },
    main: { type: 'string', minLength: 1 },
    host: { type: 'string', format: 'range' },
    requires: { type: 'object', additionalProperties: { type: 'string', format: 'range' }, default: {} },
    autoActivate: { type: 'boolean' },
  },
} as const;

const validate = new Ajv({
  allErrors: true,
  useDefaults: true,
  formats: { version: (text: string) => valid(text) !== null, range: (text: string) => validRange(text) !== null },
}).compile<Omit<PluginManifest, 'main'> & { main?: string }>(schema);

/**
 * Reads and checks a plugin's `plugin.json`.
 *
 * @param folder name of the plugin's folder, which its slug must equal.
 * @returns null when there is no such file: the folder is not a plugin.
 * @throws ManifestError with every fault.
 */
export async function readManifest({ directory, folder, hostVersion }: { directory: string; folder: string; hostVersion: string }): Promise<PluginSource | null> {
  const text = await readFile(join(directory, 'plugin.json'), 'utf8').catch(missingAsNull);
  if (text === null) return null;
  const manifest = parse(text);
  if (!validate(manifest)) throw new ManifestError((validate.errors ?? []).map(sentence).join(' '));
  if (manifest.slug !== folder) throw new ManifestError(`"slug" is '${manifest.slug}' but the folder is named '${folder}'; give both the same name.`);
  if (reserved.includes(manifest.slug)) throw new ManifestError(`"slug" '${manifest.slug}' is kept for the host; choose another name.`);
  if (!satisfies(hostVersion, manifest.host, { includePrerelease: true })) {
    throw new ManifestError(`It needs host ${manifest.host}, and this is host ${hostVersion}; install a version of the plugin made for this host.`);
  }
  const home = await realpath(directory);
  const { main, entry } = await findEntry(home, manifest.main);
  return { manifest: { ...manifest, main }, directory: home, entry };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ManifestError(`plugin.json is not JSON: ${(error as Error).message}.`);
  }
}

function sentence({ instancePath, keyword, params }: ErrorObject): string {
  const [, member = '', inner] = instancePath.split('/');
  if (keyword === 'required') {
    const missing = (params as { missingProperty: string }).missingProperty;
    return `"${missing}" is missing; it must be ${expected[missing] ?? 'given'}.`;
  }
  if (inner !== undefined) return `"${member}.${inner}" must be a version range, for example ^1.`;
  return member === '' ? 'plugin.json must hold an object.' : `"${member}" must be ${expected[member] ?? 'something else'}.`;
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
    given === undefined ? 'There is neither an index.ts nor an index.js; name the entry module in "main".' : `"main" is '${given}', and there is no such file in the folder.`,
  );
}

function outside(main: string): ManifestError {
  return new ManifestError(`"main" is '${main}', which is not inside the plugin's folder; it must be ${expected['main'] ?? ''}.`);
}

function missingAsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
