import { resolve } from 'node:path';
import { formatCount, type CliCommand } from '#plugin-api';
import type { Content } from '../content/content.ts';
import { describeMissingUploads } from '../content/media/missing-uploads.ts';
import type { Database } from '../database/database.ts';
import { describeUnreadable } from '../secrets/secret-stores.ts';
import type { Mail } from '../mail/mail.ts';
import type { Secrets } from '../secrets/secrets.ts';

type DatabaseForCommands = Pick<
  Database,
  'knex' | 'dialect' | 'label' | 'ping' | 'migrationStatus' | 'migratePending' | 'backup' | 'restore'
>;

interface DatabaseCommandsDependencies {
  readonly database: DatabaseForCommands;
  readonly secrets: Pick<Secrets, 'unreadable'>;
  readonly mail: Pick<Mail, 'describeHeld'>;
  readonly content: { readonly parts: Pick<Content['parts'], 'uploads'> };
}

type CommandProgress = (text: string) => void;

/** Says which table a restore is at. */
export function showTables(
  progress: CommandProgress = () => undefined,
): NonNullable<Parameters<Database['restore']>[1]> {
  return (table, rows) => progress(`Restoring ${table}, after ${formatCount(rows, 'row')}`);
}

/** `db status|migrate|backup|restore`. */
export function databaseCommands({ database, secrets, content, mail }: DatabaseCommandsDependencies): CliCommand[] {
  return [
    {
      name: 'db status',
      description: 'Shows the database and whether its tables are up to date.',
      async run() {
        await database.ping();
        const status = await database.migrationStatus();
        const pending = status.filter(({ appliedAt }) => appliedAt === null).map(({ owner, id }) => `${owner}/${id}`);
        return {
          dialect: database.dialect,
          database: database.label,
          migrations: status.length - pending.length,
          pending,
        };
      },
    },
    {
      name: 'db migrate',
      description: 'Migrates the tables of the host and of active plugins. Every start does this automatically.',
      async run() {
        const count = await database.migratePending();
        return count === 0
          ? 'The tables are up to date.'
          : `${count} ${count === 1 ? 'migration' : 'migrations'} applied.`;
      },
    },
    {
      name: 'db backup',
      description: 'Backs up the whole database to a new file. The site can keep running.',
      args: [
        {
          name: 'file',
          description: 'For example backup.jsonl.gz, which works with both databases; .sqlite copies the SQLite file.',
        },
      ],
      run: async ({ args: [file = ''] }) => database.backup(resolve(file)),
    },
    {
      name: 'db restore',
      description:
        'Replaces everything in the database with a backup, in one transaction. The site may run meanwhile: its writes wait, and it ' +
        'shows what the backup has once the restore is done.',
      args: [{ name: 'file', description: 'A file created by db backup.' }],
      run: async ({ args: [file = ''], progress }) => {
        const report = await database.restore(resolve(file), showTables(progress));
        const warnings = [
          describeUnreadable(await secrets.unreadable()),
          await mail.describeHeld(),
          await describeMissingUploads(database, content.parts.uploads),
        ].filter((text) => text !== null);
        return { ...report, ...(warnings.length > 0 && { warnings }) };
      },
    },
  ];
}
