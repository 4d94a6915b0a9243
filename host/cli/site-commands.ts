import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CliCommand } from '#plugin-api';
import { hostVersion } from '../site.ts';
import { readTerminalLocale } from '../start/config.ts';

/** `new`, which needs no site and opens none: without it the folder would get a database. */
const newCommand: CliCommand = {
  name: 'new',
  description:
    'Creates the folder of a site: configuration with a secret key, plugins, a compose file and a unit for systemd.',
  args: [{ name: 'folder', description: 'A folder that does not exist yet.' }],
  result: 'texts',
  run: async ({ args: [folder = ''] }) => {
    const directory = resolve(folder);
    await createSite(directory);
    return `Created ${directory}. Next: cd '${folder}' && npm install && npm start`;
  },
};

/** `start`, for the list of commands. The entry starts the site when this is the first argument. */
const startCommand: CliCommand = {
  name: 'start',
  description: 'Starts the site of this folder, which keeps its data in ./data and its plugins in ./plugins.',
  run: () => Promise.reject(new Error("Give 'start' as the first argument.")),
};

export const siteCommands: readonly CliCommand[] = [startCommand, newCommand];

/** Runs `new`. @param argv with the command as its first argument. @returns the exit code. */
export async function runWithoutSite(argv: readonly string[]): Promise<0 | 1> {
  const [{ runCommandLine }, { translatorWithoutSite }] = await Promise.all([
    import('./program.ts'),
    import('./terminal-language.ts'),
  ]);
  return runCommandLine(siteCommands, argv, {
    translate: translatorWithoutSite(readTerminalLocale(), argv),
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
  });
}

const product = fileURLToPath(new URL('../..', import.meta.url));

/** @param directory absolute. @throws Error if it exists. */
async function createSite(directory: string): Promise<void> {
  try {
    await mkdir(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new Error(`The folder ${directory} already exists.`, { cause: error });
    if (code === 'ENOENT') throw new Error(`The folder above ${directory} does not exist.`, { cause: error });
    throw error;
  }
  await mkdir(join(directory, 'plugins'));
  const [compose, unit] = await Promise.all(
    ['compose.yaml', 'host/deploy/svc.service'].map((file) => readFile(join(product, file), 'utf8')),
  );
  const files: Readonly<Record<string, string>> = {
    '.env': environment(),
    '.gitignore': 'node_modules/\ndata/\n.env\n',
    'package.json': `${JSON.stringify(describePackage(directory), null, 2)}\n`,
    'plugins/.gitkeep': '',
    // The site installs the product; it does not build an image of it.
    'compose.yaml': compose?.replace(/^ *build: .*\n/m, '') ?? '',
    'svc.service':
      unit
        ?.replaceAll('/opt/svc/host/DEPLOY.md', join(directory, 'node_modules/svc/built/package/host/DEPLOY.md'))
        .replaceAll('/opt/svc', directory)
        .replace('host/main.js', 'node_modules/svc/built/package/host/main.js') ?? '',
  };
  for (const [file, text] of Object.entries(files))
    await writeFile(join(directory, file), text, { mode: file === '.env' ? 0o600 : 0o644 });
}

const environment = (): string => `# See 'npx svc config' for all variables and their values.
SECRET_KEY=${randomBytes(32).toString('hex')}
# The address that people use:
# SITE_URL=https://example.com
# PostgreSQL instead of SQLite in ./data:
# DATABASE_URL=postgres://user:password@localhost:5432/site
`;

const describePackage = (directory: string): object => ({
  name: basename(directory)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-'),
  private: true,
  type: 'module',
  scripts: { start: 'svc start', cli: 'svc' },
  dependencies: { svc: hostVersion },
});
