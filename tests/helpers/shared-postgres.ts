import { noteFileTime } from './file-times.ts';
import { keepCoverage } from './keep-coverage.ts';
import { rememberHashes } from './remember-hashes.ts';
import { dropTemplates, startPostgres, stopPostgres } from './postgres.ts';

rememberHashes();

/** Before the processes that run test files side by side: one PostgreSQL for all of them, where each test has a database of its own. */
export async function mochaGlobalSetup(): Promise<void> {
  process.env['TEST_DATABASE_URL'] ||= await startPostgres();
}

export async function mochaGlobalTeardown(): Promise<void> {
  await dropTemplates();
  await stopPostgres();
}

export const mochaHooks = { beforeAll: keepCoverage, afterAll: noteFileTime };
