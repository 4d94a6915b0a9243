import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkConformance } from '#testing';
import { findBrowser } from '../e2e/browser.ts';
import { createPostgresDatabase } from '../helpers/postgres.ts';
import { checkout } from '../helpers/running-site.ts';

/** Rounds of deactivation and activation. Those of the service take ten seconds on each database. */
const rounds = 200;
const slugs = ['hello', 'orders', 'sandbox', 'svc'] as const;

/** Points that are left out for a reason other than that the plugin has nothing to try. All others pass, on both databases. */
const everywhere = { upgrade: 'No previous version was given.' };
const onSqlite = { nodes: 'Two nodes need PostgreSQL.' };
const onPostgres = { accessibility: 'The pages are those of SQLite.' };

describe('the conformance of the shipped plugins over many rounds', () => {
  for (const slug of slugs)
    it(`holds for ${slug}`, async () => {
      const { url, drop } = await createPostgresDatabase();
      try {
        const plugin = join(checkout, 'plugins', slug);
        const points = await checkConformance({ plugin, postgres: url, rounds, browser: findBrowser() });
        expect(points).to.have.length(26);
        for (const [database, expected] of [
          ['SQLite', { ...everywhere, ...onSqlite }],
          ['PostgreSQL', { ...everywhere, ...(slug !== 'hello' && onPostgres) }],
        ] as const)
          expect(
            Object.fromEntries(
              points
                .filter(
                  (each) =>
                    each.database === database &&
                    each.outcome !== 'passed' &&
                    !each.detail.startsWith('The plugin has no'),
                )
                .map(({ point, detail }) => [point, detail]),
            ),
          ).to.deep.equal(expected);
      } finally {
        await drop();
      }
    }).timeout(600_000);

  it('names what axe-core finds on a page', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-accessible-')));
    const plugin = join(folder, 'dim');
    const files = {
      'plugin.json': '{ "slug": "dim", "name": "Dim", "version": "1.0.0", "host": "^1" }',
      'views/page.hbs': '<img src="/favicon.ico"><input name="amount">',
      'index.js': `export default { register({ admin }) {
        admin.addPage({ slug: 'dim', title: 'Dim', render: async () => ({ template: 'dim/page', data: {} }) });
      } };`,
    };
    await mkdir(join(plugin, 'views'), { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(plugin, name), text);
    try {
      const points = await checkConformance({ plugin, rounds: 1, browser: findBrowser() });
      const found = points.find(({ point }) => point === 'accessibility');
      expect(found?.outcome).to.equal('failed');
      expect(found?.detail)
        .to.match(/^axe-core finds \d+ violations\. \/admin\/dim, wide and light: image-alt \(critical\): img/)
        .and.to.contain('/admin/dim, wide and light: label (critical): input');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }).timeout(120_000);
});
