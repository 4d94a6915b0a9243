import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { RestError, type ContentApi, type RestField } from '#plugin-api';
import type { TestHost } from '#testing';
import { describeHosts } from '../helpers/dialects.ts';
import { exceptions, faults } from './wordpress-exceptions.ts';
import { readAbilities, registerAbilities } from './wordpress-abilities.ts';
import { openApplicationPasswordSite, readApplicationPasswords } from './wordpress-application-passwords.ts';
import { openWordPressSite, readRows, type RecordedRow, type WordPressSite } from './wordpress-site.ts';

describeHosts('routes recorded from WordPress', (dialectCase) => {
  let site: WordPressSite;
  afterEach(() => site.stop());

  it('for taxonomies, search and plugins, then fields', async () => {
    const { setup, rows } = readRows('search-taxonomies-plugins.jsonl.gz');
    site = await openWordPressSite(dialectCase, setup);
    await expectSame(site, rows);
    await expectRefusedDeletion(site.host);
    registerFields(site.host.content);
    await expectSame(site, readRows('rest-fields.jsonl.gz').rows);
  });

  it('for abilities', async () => {
    site = await openWordPressSite(dialectCase);
    registerAbilities(site.host);
    await expectSame(site, readAbilities().rows);
  });

  it('for application passwords, with the page that authorizes applications', async () => {
    site = await openApplicationPasswordSite(dialectCase);
    await expectSame(site, readApplicationPasswords().rows);
  });

  it('for Site Health', async () => {
    site = await openWordPressSite(dialectCase);
    await expectSame(site, readRows('site-health.jsonl.gz').rows);
    const { status, html } = await site.page('/admin/tools/site-health?results=1');
    expect(status).to.equal(200);
    expect(html).to.include('Your website does not use HTTPS').and.include('Version of the host');
  });
});

/** A folder that nothing but its author can write again stays, and the data with it: the answer must not say `deleted`. */
async function expectRefusedDeletion({ plugins, rest, users }: TestHost): Promise<void> {
  const plugin = () => plugins.list().find(({ slug }) => slug === 'rec-one');
  await mkdir(join(plugin()!.directory!, '.git'));
  const user = (await users.find('admin'))!;
  const { status, body } = await rest.dispatch('/wp/v2/plugins/rec-one', { method: 'DELETE', user });
  expect(status).to.equal(400);
  expect(body).to.include({ code: 'plugin_deletion_failed' });
  expect((body as { readonly message: string }).message).to.contain('plugin uninstall rec-one --delete-files');
  await plugins.discover();
  expect(plugin()?.state).to.equal('inactive');
}

/** The fields that the recording was made with. */
function registerFields({ meta, registerRestField }: ContentApi): void {
  const stored = (name: string) => ({
    get: async ({ id }: Readonly<Record<string, unknown>>) => (await meta.get(Number(id), name)) ?? '',
    update: (value: unknown, { id }: { readonly id: number }) => meta.update(id, name, value),
  });
  const shown = ['view', 'edit'];
  const everywhere = [...shown, 'embed'];
  const field = (name: string, definition: RestField) => void registerRestField('post', name, definition);
  field('rec_rating', {
    get: async ({ id }) => Number((await meta.get(Number(id), 'rec_rating')) ?? 0),
    update: async (value, { id }) => {
      if (value === 13) throw new RestError({ code: 'rec_bad_rating', message: 'No thirteen.', status: 422 });
      if (value === 14) return new RestError({ code: 'rec_bad_rating', message: 'No fourteen.' });
      return value !== 15 && meta.update(id, 'rec_rating', value);
    },
    schema: { type: 'integer', minimum: 0, maximum: 20, description: 'A rating.', context: shown },
  });
  field('rec_secret', {
    get: () => 's3',
    schema: { type: 'string', description: 'Edit only.', context: ['edit'] },
  });
  field('rec_noschema', {
    get: (item, { name, type }) => ({ field: name, type, keys: Object.keys(item).slice(0, 4) }),
  });
  field('rec_obj', {
    get: async ({ id }) => ({ a: (await meta.get(Number(id), 'rec_obj_a')) ?? 'A', b: 7, extra: true }),
    update: (value, { id }) => meta.update(id, 'rec_obj_a', (value as { readonly a?: string }).a ?? 'none'),
    schema: {
      type: 'object',
      description: 'An object.',
      context: everywhere,
      properties: { a: { type: 'string', context: everywhere }, b: { type: 'integer', context: ['edit'] } },
    },
  });
  field('rec_ro', {
    ...stored('rec_ro'),
    get: async ({ id }) => (await meta.get(Number(id), 'rec_ro')) ?? 'untouched',
    schema: { type: 'string', description: 'Read only.', readOnly: true, context: shown },
  });
  field('rec_wo', {
    update: stored('rec_wo').update,
    schema: { type: 'string', description: 'No get callback.', context: shown },
  });
  field('rec_args', {
    ...stored('rec_args'),
    schema: { type: 'string', description: 'With arg options.', context: shown },
    argument: { sanitize: (value) => String(value).toUpperCase(), default: 'dflt' },
  });
}

/** Sends the rows in order, and expects the recorded answers, the named exceptions apart. */
async function expectSame(site: WordPressSite, rows: readonly RecordedRow[]): Promise<void> {
  const different: Record<string, string> = {};
  for (const row of rows) {
    const difference = await site.difference(row);
    if (difference !== null) different[row.id] = difference.slice(0, 1_000);
  }
  const named = rows.filter(({ id }) => id in exceptions || id in faults).map(({ id }) => id);
  const unexpected = Object.entries(different).filter(([id]) => !named.includes(id));
  expect(Object.fromEntries(unexpected)).to.deep.equal({});
  expect(
    named.filter((id) => !(id in different)),
    'exceptions that are none',
  ).to.deep.equal([]);
  const comparable = rows.filter(({ id }) => !(id in faults));
  const missed = comparable.filter(({ id }) => id in exceptions).length;
  expect(missed / comparable.length).to.be.at.most(0.05);
}
