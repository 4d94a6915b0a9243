import type { Clock, Knex, Logger, Migration } from '#plugin-api';
import type { AppliedMigration } from './database-contract.ts';
import type { Dialect } from './dialects/dialect.ts';
import type { Transactions } from './transactions.ts';

export const migrationsTable = 'migrations';

export interface Migrator {
  migrate(owner: string, migrations: readonly Migration[]): Promise<void>;
  /** See `Database.migrateTogether`. */
  migrateTogether<Result>(
    owner: string,
    migrations: readonly Migration[],
    work: () => Promise<Result>,
  ): Promise<Result>;
  /** See `Database.pendingMigrations`. */
  pending(owner: string, migrations: readonly Migration[]): Promise<string[]>;
  /** Registers the migrations without applying them. */
  declare(owner: string, migrations: readonly Migration[]): void;
  /** Takes the owner's migrations back from the known ones. */
  withdraw(owner: string): void;
  /** Applies all known pending migrations, each in its own transaction. Returns their number. */
  migratePending(): Promise<number>;
  status(): Promise<AppliedMigration[]>;
  /** See `Database.findTooOld`. */
  findTooOld(): Promise<Map<string, string>>;
  /** Removes the record of the owner's migrations, so that they can run again. Its tables are not touched. */
  forget(owner: string): Promise<void>;
  /** Finds a known migration. */
  find(owner: string, id: string): Migration | undefined;
  /** Inside a transaction: runs the migration and records it. */
  apply(owner: string, migration: Migration): Promise<void>;
  /** Inside a transaction: applies all known pending migrations. Returns their number. */
  applyPending(): Promise<number>;
  createTable(knex: Knex): Promise<void>;
}

export interface MigratorDependencies {
  readonly dialect: Dialect;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly log: Logger;
}

interface MigrationRow {
  readonly owner: string;
  readonly id: string;
  readonly applied_at: number;
  /** Missing where no migration of the database has it. */
  readonly contracts?: string | null;
}

/** One history for the host and all plugins: the table `migrations(owner, id, applied_at)`. */
export function createMigrator({ dialect, transactions, clock, log }: MigratorDependencies): Migrator {
  const { knex } = transactions;
  const known = new Map<string, readonly Migration[]>();

  const findPending = async (owner: string): Promise<Migration[]> =>
    selectPending(owner, known.get(owner) ?? [], await readApplied(knex));

  const declare = (owner: string, migrations: readonly Migration[]): void =>
    void known.set(owner, sortById(owner, migrations));

  const { apply, applyOnce, applyTogether } = createApplying({ dialect, transactions, clock, log }, findPending);

  async function forEachPending(run: (owner: string, migration: Migration) => Promise<void>): Promise<number> {
    let count = 0;
    for (const owner of known.keys()) {
      for (const migration of await findPending(owner)) {
        await run(owner, migration);
        count++;
      }
    }
    return count;
  }

  return {
    async migrate(owner, migrations) {
      declare(owner, migrations);
      for (const migration of await findPending(owner)) await applyOnce(owner, migration);
    },
    migrateTogether(owner, migrations, work) {
      declare(owner, migrations);
      return applyTogether(owner, work);
    },
    async pending(owner, migrations) {
      const applied = await readApplied(knex);
      return selectPending(owner, sortById(owner, migrations), applied).map(({ id }) => id);
    },
    declare,
    async findTooOld() {
      const applied = await readApplied(knex);
      return new Map([...known].flatMap(([owner, list]) => describeTooOld(owner, list, applied)));
    },
    withdraw: (owner) => void known.delete(owner),
    migratePending: () => forEachPending(applyOnce),
    async status() {
      const done = await readApplied(knex);
      const pending = [...known].flatMap(([owner, list]) =>
        list
          .filter(({ id }) => !done.some((row) => row.owner === owner && row.id === id))
          .map(({ id }): AppliedMigration => ({ owner, id, appliedAt: null })),
      );
      return [
        ...done.map(({ owner, id, applied_at }): AppliedMigration => ({ owner, id, appliedAt: applied_at })),
        ...pending,
      ];
    },
    async forget(owner) {
      known.delete(owner);
      await knex(migrationsTable).where({ owner }).delete();
    },
    find: (owner, id) => known.get(owner)?.find((migration) => migration.id === id),
    apply,
    applyPending: () => forEachPending(apply),
    createTable,
  };
}

/** Applies migrations: in the current transaction, each in its own, or all in one. */
function createApplying(
  { dialect, transactions, clock, log }: MigratorDependencies,
  findPending: (owner: string) => Promise<Migration[]>,
) {
  const { knex } = transactions;

  async function apply(owner: string, migration: Migration): Promise<void> {
    try {
      await migration.up(knex, { dialect: dialect.name });
    } catch (error) {
      throw new Error(
        `The migration '${migration.id}' of '${owner}' failed and was rolled back: ${(error as Error).message}`,
        { cause: error },
      );
    }
    const { id, contracts } = migration;
    if (contracts !== undefined) await addContracts(knex);
    await knex(migrationsTable).insert({ owner, id, applied_at: clock.now(), ...(contracts && { contracts }) });
  }

  /** Another node may have applied it while this one waited for the lock. */
  async function applyOnce(owner: string, migration: Migration): Promise<void> {
    await transactions.run(async (transaction) => {
      await dialect.lock(transaction, 'migrations');
      await createTable(transaction);
      const found = await transaction(migrationsTable).where({ owner, id: migration.id }).first('id');
      if (found !== undefined) return;
      await apply(owner, migration);
      log.info('Migration applied', { event: 'migration_applied', owner, migration: migration.id });
    }, dialect.migrationSettings);
  }

  /** One lock for everything, so that a waiting node then finds all migrations applied. */
  async function applyTogether<Result>(owner: string, work: () => Promise<Result>): Promise<Result> {
    return transactions.run(async (transaction) => {
      await dialect.lock(transaction, 'migrations');
      await createTable(transaction);
      const pending = await findPending(owner);
      for (const migration of pending) await apply(owner, migration);
      const result = await work();
      const applied = pending.map(({ id }) => id);
      if (applied.length > 0)
        transactions.afterCommit(() =>
          log.info('Migrations applied', { event: 'migrations_applied', owner, migrations: applied }),
        );
      return result;
    }, dialect.migrationSettings);
  }

  return { apply, applyOnce, applyTogether };
}

async function readApplied(knex: Knex): Promise<MigrationRow[]> {
  if (!(await knex.schema.hasTable(migrationsTable))) return [];
  return knex<MigrationRow>(migrationsTable).select('*').orderBy(['applied_at', 'owner', 'id']);
}

async function createTable(knex: Knex): Promise<void> {
  if (await knex.schema.hasTable(migrationsTable)) return;
  await knex.schema.createTable(migrationsTable, (table) => {
    table.string('owner', 100).notNullable();
    table.string('id', 191).notNullable();
    table.bigInteger('applied_at').notNullable();
    table.string('contracts', 191);
    table.primary(['owner', 'id']);
  });
}

/** Tables of earlier versions lack the column. */
async function addContracts(knex: Knex): Promise<void> {
  if (await knex.schema.hasColumn(migrationsTable, 'contracts')) return;
  await knex.schema.alterTable(migrationsTable, (table) => void table.string('contracts', 191));
}

/** Entries for owners whose code here lacks a migration that the data needs by now. */
function describeTooOld(
  owner: string,
  list: readonly Migration[],
  applied: readonly MigrationRow[],
): (readonly [string, string])[] {
  const isKnown = (id: string): boolean => list.some((migration) => migration.id === id);
  const breaking = applied.find(
    (row) => row.owner === owner && !isKnown(row.id) && row.contracts && !isKnown(row.contracts),
  );
  if (breaking === undefined) return [];
  const text =
    `This process is too old for the data: the migration '${breaking.id}' of '${owner}' took away what its code needs. ` +
    'Start the newer version here.';
  return [[owner, text]];
}

/** The database has migrations that this code does not know. */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError';
}

function selectPending(owner: string, list: readonly Migration[], applied: readonly MigrationRow[]): Migration[] {
  const done = new Set(applied.filter((row) => row.owner === owner).map((row) => row.id));
  const unknown = [...done].filter((id) => !list.some((migration) => migration.id === id)).sort();
  if (unknown.length > 0) {
    throw new NewerDatabaseError(
      `The database is newer than this code: it has the migration '${unknown.join("', '")}' of '${owner}', ` +
        'which is unknown here. Start the newer version, or restore a backup created by this version.',
    );
  }
  return list.filter((migration) => !done.has(migration.id));
}

function sortById(owner: string, migrations: readonly Migration[]): Migration[] {
  const sorted = [...migrations].sort((one, other) => (one.id < other.id ? -1 : 1));
  const twice = sorted.find((migration, index) => migration.id === sorted[index + 1]?.id);
  if (twice !== undefined) throw new Error(`'${owner}' has two migrations named '${twice.id}'; give each its own id.`);
  return sorted;
}
