import { join } from 'node:path';
import { expect } from 'chai';
import { checkConformance } from '#testing';
import { createPostgresDatabase } from '../helpers/postgres.ts';
import { checkout } from '../helpers/running-site.ts';

/** Rounds of deactivation and activation. One of the service takes a tenth of a second. */
const rounds = { hello: 200, orders: 200, sandbox: 200, svc: 30 };

/** The points that have nothing to try, with the reason. All others pass, on both databases. */
const leftOut: Readonly<Record<keyof typeof rounds, Readonly<Record<string, string>>>> = {
  hello: { pages: 'The plugin has no admin pages.' },
  orders: {},
  sandbox: { routes: 'The plugin has no routes.', database: 'The plugin has no routes and no cron events.' },
  svc: {},
};
const everywhere = { upgrade: 'No previous version was given.' };
const onSqlite = { nodes: 'Two nodes need PostgreSQL.' };

describe('the conformance of the shipped plugins over many rounds', () => {
  for (const slug of Object.keys(rounds) as (keyof typeof rounds)[])
    it(`holds for ${slug}`, async () => {
      const { url, drop } = await createPostgresDatabase();
      try {
        const plugin = join(checkout, 'plugins', slug);
        const points = await checkConformance({ plugin, postgres: url, rounds: rounds[slug] });
        expect(points).to.have.length(16);
        const reasons = { ...leftOut[slug], ...everywhere };
        for (const [database, expected] of [
          ['SQLite', { ...reasons, ...onSqlite }],
          ['PostgreSQL', reasons],
        ] as const)
          expect(
            Object.fromEntries(
              points
                .filter((each) => each.database === database && each.outcome !== 'passed')
                .map(({ point, detail }) => [point, detail]),
            ),
          ).to.deep.equal(expected);
      } finally {
        await drop();
      }
    }).timeout(240_000);
});
