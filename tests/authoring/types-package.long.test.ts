import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { failureOf } from '../helpers/failure-of.ts';
import { checkout } from '../helpers/running-site.ts';
import { createOutsideFolder, type OutsideFolder } from './outside.ts';

const options = {
  target: 'es2023',
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  types: ['node', 'svc-plugin-api'],
};

const plugin = `import { definePlugin, RestError, type Infer } from '#plugin-api';
import { createTestHost, type TestHost } from '#testing';

declare module '#plugin-api' {
  interface FilterMap {
    sample_total: (cents: number, order: string) => number;
  }
}

declare module '#plugin-api' {
  interface ServiceMap {
    'sample.prices': { of(size: number): number };
  }
}

const schema = { type: 'object', properties: { size: { type: 'integer', default: 3 } } } as const;

export default definePlugin({
  migrations: [
    { id: '0001_orders', up: (knex) => knex.schema.createTable('sample_orders', (table) => void table.increments()) },
  ],
  register(host) {
    host.rest.registerRoute('sample/v1', '/orders/{id}', {
      args: { id: { type: 'integer', minimum: 1, required: true }, note: { type: 'string' } },
      permission: ({ user }) => user.can('edit_posts'),
      async handler({ params }) {
        const id: number = params.id;
        const note: string | undefined = params.note;
        if (id > 9) throw new RestError({ code: 'sample_unknown', message: 'There is no such order.', status: 404 });
        const size: Infer<typeof schema>['size'] = 4;
        const rows = await host.database.knex('sample_orders').where({ id }).select('id');
        return { note, size, rows, total: host.hooks.applyFilters('sample_total', 100, 'one') + 1 };
      },
    });
    host.services.provide('sample.prices', { of: (size) => size * 2 });
    const price: number = host.services.get('sample.prices').of(2) + host.users.roles().length;
    host.log.debug('Priced', { event: 'sample_priced', price });
    host.hooks.addFilter('the_title', (title, id) => title.trim() + String(id.toFixed()));
    host.hooks.addFilter('svc_text_request', (call) => ({ ...call, model: call.model.trim() }));
    host.hooks.addFilter('svc_event_webhooks_request_headers', (headers, envelope, id) => ({ ...headers, 'X-Order': id.trim() }));
    host.hooks.addAction('svc_image_generated', (images, job) => host.log.info(String(images.length) + String(job?.request)));
  },
});

export async function open(): Promise<TestHost> {
  const host = await createTestHost({ plugins: ['sample'] });
  await host.clock.advance(1_000);
  return host;
}
`;

const wrong = `import { definePlugin } from '#plugin-api';

declare module '#plugin-api' {
  interface FilterMap {
    sample_total: (cents: number, order: string) => number;
  }
  interface ServiceMap {
    'sample.prices': { of(size: number): number };
  }
}

export default definePlugin({
  register(host) {
    host.rest.registerRoute('sample/v1', '/a', {
      args: { id: { type: 'integer', required: true } },
      permission: () => true,
      handler: ({ params }) => params.id.toUpperCase(),
    });
    host.hooks.addFilter('the_title', (title: number) => title);
    host.hooks.addFilter('svc_text_request', (call) => call.prompts);
    host.hooks.addFilter('svc_event_webhooks_request_headers', (headers, envelope, id) => id.length);
    host.cron.schedul('daily', 'sample_daily');
    host.options.getTransient(7);
    host.hooks.applyFilters('sample_total', 'many', 'one');
    host.services.get('sample.prices').of('large');
    host.services.get('svc.providers').openAiCompatible({ id: 'sample' });
  },
});
`;

describe('the types package', () => {
  let outside: OutsideFolder;
  before(async function () {
    // Reads the types of the host and of the service.
    this.timeout(180_000);
    outside = await createOutsideFolder();
  });
  after(() => outside.remove());

  it('types plugins outside of the checkout: parameters, hooks of host and service, their own hooks, and tests', async () => {
    await outside.write({
      'right/tsconfig.json': JSON.stringify({ compilerOptions: { ...options, skipLibCheck: false } }),
      'right/index.ts': plugin,
    });
    expect(await outside.checkTypes('right')).to.deep.equal([]);
  }).timeout(60_000);

  it('types plugins in JavaScript without a package.json', async () => {
    await outside.write({
      'javascript/tsconfig.json': JSON.stringify({
        compilerOptions: { ...options, allowJs: true, checkJs: true, skipLibCheck: true },
      }),
      'javascript/index.js': `import { definePlugin } from '#plugin-api';
        export default definePlugin({
          register(host) {
            host.hooks.addFilter('the_title', (title) => title.trim());
            host.hooks.addFilter('the_title', (title) => title.trimm());
          },
        });`,
    });
    expect(await outside.checkTypes('javascript'))
      .to.have.length(1)
      .and.to.have.nested.property('0')
      .that.contains('trimm');
  }).timeout(60_000);

  it('brings a command that tries what every plugin should stand', async () => {
    await outside.write({
      'plain/plugin.json': '{"slug":"plain","name":"Plain","version":"1.0.0","host":"^1"}',
      'plain/index.js': `export default {
          register({ rest }) {
            rest.registerRoute('plain/v1', '/one', { permission: () => true, handler: () => 1 });
          },
        };`,
    });
    const run = (env: Readonly<Record<string, string>>) =>
      promisify(execFile)(join(outside.directory, 'node_modules', '.bin', 'svc-plugin-test'), ['plain', '--rounds=2'], {
        cwd: outside.directory,
        env: { PATH: process.env['PATH'] ?? '', TMPDIR: process.env['TMPDIR'] ?? '/tmp', ...env },
      });
    const { stdout } = await run({ SVC_HOST: checkout });
    expect(stdout)
      .to.match(/activate +SQLite +passed/)
      .and.to.match(/uninstall +SQLite +passed/);
    const refused = await failureOf(run({}));
    expect(refused).to.have.property('stderr').that.contains('Set SVC_HOST to the folder of the host');
  }).timeout(120_000);

  it('refuses each wrong use', async () => {
    await outside.write({
      'wrong/tsconfig.json': JSON.stringify({ compilerOptions: { ...options, skipLibCheck: true } }),
      'wrong/index.ts': wrong,
    });
    const lines = (await outside.checkTypes('wrong')).flatMap(
      (line) => /^wrong\/index\.ts\((\d+),/.exec(line)?.[1] ?? [],
    );
    expect(lines.map(Number)).to.deep.equal([17, 19, 20, 21, 22, 23, 24, 25, 26]);
  }).timeout(60_000);
});
