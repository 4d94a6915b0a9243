import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { startPostgres } from './helpers/postgres.ts';

describe('a run of tests in which one fails', () => {
  it('ends with an error, also on a PostgreSQL that outlives it', async () => {
    const { status, stdout } = spawnSync(
      process.execPath,
      ['node_modules/mocha/bin/mocha.js', '--no-parallel', 'tests/fixtures/failing-test.ts'],
      {
        encoding: 'utf8',
        env: { ...process.env, TEST_DATABASE_URL: await startPostgres(), TEST_TEMPLATE_PREFIX: 'test_inner_' },
      },
    );
    expect(stdout).to.match(/2 failing/);
    expect(status).to.equal(2);
  });
});
