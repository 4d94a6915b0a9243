import { access, constants, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorText, type CliCommand } from '#plugin-api';
import type { Core } from '../core.ts';
import { readUndeclaredProxy } from '../http/undeclared-proxy.ts';
import { keyFileName } from '../secrets/key-file.ts';
import { describeMissingUploads } from '../content/media/missing-uploads.ts';
import { describeUnreadable } from '../secrets/secret-stores.ts';
import { describeEnvironment, describeMisspelled, envFileName, findMisspelled } from '../start/environment.ts';
import type { PluginsForCommands } from './plugin-commands.ts';

/** The commands that check the site and show its variables. */
export function doctorCommands(core: Core, plugins: () => PluginsForCommands): CliCommand[] {
  return [configCommand, doctorCommand(createDoctorChecks(core, plugins))];
}

function createDoctorChecks(
  { config, content, database, mail, options, secrets, securityLog, users }: Core,
  plugins: () => PluginsForCommands,
): Record<string, DoctorCheck> {
  return {
    node: () => Promise.resolve(process.versions.node),
    environment: async () => {
      const misspelled = describeMisspelled(await findMisspelled());
      if (misspelled.length > 0) throw new Error(misspelled.join(' '));
      return "read; 'config' shows it";
    },
    'data folder': async () => {
      await access(config.dataDir, constants.W_OK).catch((error: unknown) => {
        throw new Error(`DATA_DIR ${config.dataDir} is not writable; grant this user write access.`, {
          cause: error,
        });
      });
      return config.dataDir;
    },
    'file modes': async () => {
      const open = [
        await openToOthers(config.dataDir, '700'),
        await openToOthers(join(config.dataDir, keyFileName), '600'),
        await openToOthers(resolve(envFileName), '600'),
      ].filter((text) => text !== null);
      if (open.length > 0) throw new Error(open.join(' '));
      return 'private';
    },
    database: async () => {
      await database.ping();
      return database.label;
    },
    proxy: async () => {
      const found = await readUndeclaredProxy({ config, options });
      if (found !== null)
        throw new Error(
          `Requests come through a proxy at ${found.address} (${found.header}), so that all visitors share its address. ` +
            'Set TRUST_PROXY to the number of proxies in front, or to their addresses.',
        );
      return config.trustProxy === false ? 'none seen' : 'TRUST_PROXY is set';
    },
    migrations: async () => {
      const missing = (await database.migrationStatus()).filter(({ appliedAt }) => appliedAt === null);
      if (missing.length > 0) throw new Error(`${missing.length} not applied; run 'db migrate'.`);
      return 'all applied';
    },
    secrets: async () => {
      if (secrets.decrypt(secrets.encrypt('doctor')) !== 'doctor')
        throw new Error('A secret could not be decrypted; check SECRET_KEY.');
      const problem = describeUnreadable(await secrets.unreadable());
      if (problem !== null) throw new Error(problem);
      const source = config.secretKey === null ? 'key file in DATA_DIR' : 'SECRET_KEY';
      const hasPrevious =
        config.secretKey === null ? secrets.previousKeys('secrets').length > 0 : config.previousSecretKey !== null;
      return hasPrevious ? `${source}, with a previous key; run 'secrets rotate' to finish with it` : source;
    },
    mail: async () => {
      const problem = await mail.describeHeld();
      if (problem !== null) throw new Error(`${problem} Restore SECRET_KEY or the key file.`);
      return 'readable';
    },
    uploads: async () => {
      await content.parts.uploads.check();
      const problem = await describeMissingUploads(database, content.parts.uploads);
      if (problem !== null) throw new Error(problem);
      return 'complete';
    },
    'security log': async () => {
      const { entries, brokenAt } = await securityLog.verify();
      if (brokenAt !== null)
        throw new Error(
          `Entry ${brokenAt} of the security log was changed or removed, or written with another SECRET_KEY. ` +
            `Compare it with the lines of the event 'security_event' in the log of the process.`,
        );
      return `${entries} entries, unchanged`;
    },
    administrator: async () => {
      if (!(await users.hasAdministrator()))
        throw new Error(
          "No administrator yet; open the setup link that 'npm start' prints, or set ADMIN_USER, ADMIN_PASSWORD and ADMIN_EMAIL.",
        );
      return 'present';
    },
    plugins: async () => {
      const failed = plugins()
        .list()
        .filter(({ state }) => state === 'failed');
      if (failed.length > 0)
        throw new Error(
          failed
            .map(
              ({ slug, failure }) =>
                `${slug} failed at ${failure?.stage ?? 'start'}: ${failure?.message ?? 'no reason given'}`,
            )
            .join('; '),
        );
      return `${
        plugins()
          .list()
          .filter(({ state }) => state === 'active').length
      } active`;
    },
    'plugin health': async () => {
      const findings = (await plugins().health()).flatMap(({ slug, results }) =>
        results.map((result) => ({ ...result, slug })),
      );
      const describeFindings = (status: string): string[] =>
        findings
          .filter((finding) => finding.status === status)
          .map(({ slug, label, description }) => `${slug}: ${label}${description === '' ? '' : ` (${description})`}`);
      if (describeFindings('critical').length > 0) throw new Error(describeFindings('critical').join('; '));
      return describeFindings('recommended').join('; ') || 'good';
    },
  };
}

/** `config`: what each variable is set to and by what, and the names that none has. */
const configCommand: CliCommand = {
  name: 'config',
  description: 'Shows the environment variables in force and where each value comes from. Secrets are masked.',
  async run() {
    const misspelled = (await findMisspelled()).map(({ name, meant }) => ({
      name,
      value: null,
      source: `unknown; ${meant} is meant`,
    }));
    return [...describeEnvironment(), ...misspelled];
  },
};

/** How to close a file to other users of the machine; null: it is closed, missing, or the system has no such modes. */
async function openToOthers(path: string, mode: '600' | '700'): Promise<string | null> {
  const found = process.platform === 'win32' ? null : await stat(path).catch(() => null);
  if (found === null || (found.mode & 0o077) === 0) return null;
  const current = (found.mode & 0o777).toString(8).padStart(3, '0');
  return `${path} is open to other users (mode ${current}). Run: chmod ${mode} '${path}'`;
}

/** Resolves with the result, or rejects with an Error that says what to do. */
type DoctorCheck = () => Promise<string>;

/** `doctor`: runs all checks and fails if one of them fails. */
function doctorCommand(checks: Readonly<Record<string, DoctorCheck>>): CliCommand {
  return {
    name: 'doctor',
    result: 'texts',
    description: 'Checks settings, database, secrets and plugins.',
    async run() {
      const rows = await Promise.all(
        Object.entries(checks).map(async ([name, check]) => {
          try {
            return { check: name, result: 'ok', detail: await check() };
          } catch (error) {
            return { check: name, result: 'failed', detail: errorText(error) };
          }
        }),
      );
      const failed = rows.filter(({ result }) => result === 'failed');
      if (failed.length > 0) throw new Error(failed.map(({ check, detail }) => `${check}: ${detail}`).join('\n'));
      return rows;
    },
  };
}
