import { readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import satisfies from 'semver/functions/satisfies.js';
import valid from 'semver/functions/valid.js';
import validRange from 'semver/ranges/valid.js';
import { endSentence, errorText, isNear, isRecord, isUrl, type PluginManifest } from '#plugin-api';
import { isPublicKey } from './install/signature.ts';

/** A plugin with a valid manifest. */
export interface PluginSource {
  readonly manifest: PluginManifest;
  /** Absolute, with symbolic links resolved. */
  readonly directory: string;
  /** Absolute path of the entry module. */
  readonly entry: string;
  /** In a folder `must-use`: always active and started first. */
  readonly mustUse?: boolean;
  /** Shipped and updated with the host. Its folder is never deleted or replaced. */
  readonly shipped?: boolean;
  /** Members of the manifest that have no effect. */
  readonly unknown?: readonly string[];
  /** Absolute paths of plugins with the same slug in later folders, which are not used. */
  readonly hidden?: readonly string[];
}

/** The manifest without defaults. */
type RawManifest = Omit<PluginManifest, 'description' | 'main' | 'requires'> &
  Partial<Pick<PluginManifest, 'description' | 'main' | 'requires'>>;

/** Contains one sentence per error, each starting with the name of the member. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/** Slugs reserved for the host as owners of hooks and migrations and as folders of views and assets. */
export const reserved = ['host', 'admin', 'site', 'core', 'must-use'];

interface Member {
  readonly required?: boolean;
  readonly accepts: (value: unknown) => boolean;
  /** Completes the sentence "must be ...". */
  readonly expected: string;
}

const isRange = (value: unknown): boolean => typeof value === 'string' && validRange(value) !== null;
const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' && value.length <= longest;

const isWebAddress = (value: unknown): boolean => isText(value, 500) && isUrl(value) && /^https?:/i.test(value);

/** Not a JSON Schema, because loading ajv would double the startup time of the loader. */
const members: Readonly<Record<string, Member>> = {
  slug: {
    required: true,
    accepts: (value) => isText(value, 60) && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(value),
    expected: 'lowercase letters, digits and hyphens (my-plugin)',
  },
  name: {
    required: true,
    accepts: (value) => isText(value, 200) && value.trim() !== '',
    expected: 'a non-empty text',
  },
  version: {
    required: true,
    accepts: (value) => isText(value, 100) && valid(value) !== null,
    expected: 'a semantic version (1.0.0)',
  },
  description: { accepts: (value) => isText(value, 2_000), expected: 'a text' },
  main: {
    accepts: (value) => isText(value, 500) && value !== '',
    expected: 'the path of the entry module inside the folder (index.js)',
  },
  host: { required: true, accepts: isRange, expected: 'a range of host versions (^1)' },
  requires: {
    accepts: (value) => isRecord(value) && Object.values(value).every(isRange),
    expected: 'an object of slugs and version ranges ({"svc": "^1"})',
  },
  updateKey: {
    accepts: (value) => typeof value === 'string' && isPublicKey(value),
    expected: 'a public ed25519 key, 32 bytes in base64, as `plugin pack --key` prints it',
  },
  autoActivate: { accepts: (value) => typeof value === 'boolean', expected: 'true or false' },
};

const known = [...Object.keys(members), 'homepage', 'author'];

/**
 * Reads and validates the `plugin.json` of a plugin.
 *
 * @param folder name of the plugin folder, which must equal the slug.
 * @returns null if the file does not exist, because the folder is not a plugin.
 * @throws ManifestError with all errors.
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
    throw new ManifestError(`"slug" '${manifest.slug}' is reserved for the host; choose another name.`);
  if (!satisfies(hostVersion, manifest.host, { includePrerelease: true })) {
    throw new ManifestError(
      `It requires host ${manifest.host}, but this is host ${hostVersion}; install a compatible version of the plugin.`,
    );
  }
  const home = await realpath(directory);
  const { main, entry } = await findEntry(home, manifest.main);
  return {
    manifest: {
      ...withCredits(manifest),
      description: manifest.description ?? '',
      requires: manifest.requires ?? {},
      main,
    },
    directory: home,
    entry,
    unknown: Object.keys(manifest).filter((name) => !known.includes(name)),
  };
}

/** A sentence for each plugin of the same name that this one hides. */
export function describeHidden(source: Pick<PluginSource, 'directory' | 'hidden'> | undefined): string[] {
  return (source?.hidden ?? []).map(
    (hidden) =>
      `The plugin in ${source?.directory} hides the one of the same name in ${hidden}. Rename or remove one of them.`,
  );
}

/** A sentence about a member without effect. */
export function describeUnknown(name: string): string {
  const near = findNear(name);
  const hint = near === undefined ? `Known are ${known.join(', ')}.` : `Did you mean "${near}"?`;
  return `plugin.json has the member "${name}", which has no effect. ${hint}`;
}

/** The member that was meant. Others belong to programs that read the file too. */
export function findNear(name: string): string | undefined {
  return known.find((each) => each.toLowerCase() === name.toLowerCase() || isNear(each, name, 4));
}

/** Homepage and author are for display: what does not fit is left out, because manifests of other hosts have them too. */
function withCredits({ homepage, author, ...manifest }: RawManifest): RawManifest {
  const given: unknown = author;
  const { name, url } = isRecord(given) ? given : { name: given, url: undefined };
  return {
    ...manifest,
    ...(isWebAddress(homepage) && { homepage: homepage as string }),
    ...(isText(name, 200) && { author: { name, ...(isWebAddress(url) && { url: url as string }) } }),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ManifestError(`plugin.json is not JSON: ${endSentence(errorText(error))}`);
  }
}

/** Ignores unknown members. */
function checkMembers(manifest: unknown): RawManifest {
  if (!isRecord(manifest)) throw new ManifestError('plugin.json must contain an object.');
  const errors = Object.entries(members).flatMap(([name, { required, accepts, expected }]) => {
    const value = manifest[name];
    if (value === undefined) return required ? [`"${name}" is missing; it must be ${expected}.`] : [];
    return accepts(value) ? [] : [`"${name}" must be ${expected}.`];
  });
  if (errors.length > 0) throw new ManifestError(errors.join(' '));
  return manifest as unknown as RawManifest;
}

async function findEntry(home: string, given: string | undefined): Promise<{ main: string; entry: string }> {
  for (const main of given === undefined ? ['index.ts', 'index.js'] : [given]) {
    if (isAbsolute(main)) throw outsideError(main);
    const path = join(home, main);
    if (!path.startsWith(home + sep)) throw outsideError(main);
    const entry = await realpath(path).catch(missingAsNull);
    if (entry === null) continue;
    // A symbolic link may point outside the folder.
    if (!entry.startsWith(home + sep)) throw outsideError(main);
    return { main, entry };
  }
  throw new ManifestError(
    given === undefined
      ? 'It has no index.ts or index.js; set the entry module in "main".'
      : `"main" is '${given}', but this file does not exist in the folder.`,
  );
}

function outsideError(main: string): ManifestError {
  return new ManifestError(
    `"main" is '${main}', which is outside the plugin folder; it must be ${members['main']?.expected ?? ''}.`,
  );
}

function missingAsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
