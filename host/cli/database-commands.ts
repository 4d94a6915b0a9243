import { resolve } from 'node:path';
import type { CliCommand } from '#plugin-api';
import type { Database } from '../database/database.ts';

type DatabaseForCommands = Pick<
  Database,
  'dialect' | 'label' | 'ping' | 'migrationStatus' | 'migratePending' | 'backup' | 'restore'
>;

/** `db status|migrate|backup|restore`. */
export function databaseCommands(database: DatabaseForCommands): CliCommand[] {
  return [
    {
      name: 'db status',
      description: 'Shows which database is used, and whether its tables are up to date.',
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
      description:
        'Brings the tables of the host and of the active plugins up to date. Every start does this by itself.',
      async run() {
        const count = await database.migratePending();
        return count === 0
          ? 'The tables are up to date.'
          : `${count} ${count === 1 ? 'migration' : 'migrations'} applied.`;
      },
    },
    {
      name: 'db backup',
      description: 'Writes everything in the database into a new file, while the site may go on running.',
      args: [
        {
          name: 'file',
          description:
            'For example backup.jsonl.gz, which either database restores; with .sqlite at its end a copy of the SQLite file.',
        },
      ],
      run: async ({ args: [file = ''] }) => database.backup(resolve(file)),
    },
    {
      name: 'db restore',
      description: 'Replaces everything in the database by what a backup holds. Running nodes follow.',
      args: [{ name: 'file', description: 'A file written by db backup.' }],
      run: async ({ args: [file = ''] }) => database.restore(resolve(file)),
    },
  ];
}
