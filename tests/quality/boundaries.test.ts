import { expect } from 'chai';
import { readImports } from './cruise.ts';

async function violations(root = ''): Promise<string[]> {
  const { summary } = await readImports(root);
  expect(summary.totalCruised, 'files looked at').to.be.greaterThan(10);
  return [
    ...new Set(
      summary.violations.map(({ rule, from, to }) =>
        `${rule.name}: ${from} -> ${to.replace(/^.*node_modules\/([^/]+)\/.*$/, '$1')}`.replaceAll(
          root || ' ',
          root ? '' : ' ',
        ),
      ),
    ),
  ].sort();
}

describe('import rules', () => {
  it('hold in host and plugins', async () => {
    expect(await violations()).to.deep.equal([]);
  });

  it('catch a tree that breaks each of them', async () => {
    expect(await violations('tests/fixtures/breaches/')).to.deep.equal([
      'admin-ui imports itself, settings, kit: plugins/svc/admin-ui/reaches-ai.ts -> plugins/svc/ai/call.ts',
      'ai imports providers, vector stores, settings, kit: plugins/svc/ai/reaches-module.ts -> plugins/svc/modules/images/picture.ts',
      'any other plugin imports itself: plugins/hello/reaches-host.ts -> host/options/options.ts',
      'any other plugin imports itself: plugins/other/reaches-hello.ts -> plugins/hello/reaches-host.ts',
      'budgets, failover, usage, prices and knowledge have their own rooms: plugins/svc/ai/call.ts -> plugins/svc/ai/usage-ledger.ts',
      'express only in http, admin, rest: host/hooks/serves.ts -> express',
      'host/hooks imports itself, #plugin-api, database, log: host/hooks/reaches-options.ts -> host/options/options.ts',
      'kit imports itself: plugins/svc/kit/reaches-ai.ts -> plugins/svc/ai/call.ts',
      'knex and drivers only in database (their types also in plugin-api): host/rest/queries.ts -> knex',
      'modules import themselves, ai, settings, admin-ui, kit, ports: plugins/svc/modules/text/reaches-images.ts -> plugins/svc/modules/images/picture.ts',
      'no cycles: host/cron/first.ts -> host/cron/second.ts',
      'no unresolvable imports: host/cron/lost.ts -> ./absent.ts',
      'parsers of documents only in readers, which run in threads: host/content/parses.ts -> image-size',
      'plugin-api imports itself alone: host/plugin-api/index.ts -> host/options/options.ts',
      'plugins come in by the door: plugins/hello/reaches-host.ts -> host/options/options.ts',
      'providers import themselves and kit: plugins/svc/providers/reaches-ai.ts -> plugins/svc/ai/call.ts',
      'readers only in readers: host/content/parses.ts -> host/content/sample.reader.ts',
      'settings import themselves, providers, vector stores, admin-ui, kit: plugins/svc/settings/reaches-ai.ts -> plugins/svc/ai/call.ts',
      'the files of plugin-api only through #plugin-api: host/users/reaches-values.ts -> host/plugin-api/values.ts',
      'the product imports no development packages: plugins/svc/ai/tests.ts -> chai',
      'vendor SDKs only in providers and vector stores: plugins/svc/ai/call.ts -> openai',
      'webhooks import themselves, settings, admin-ui, kit: plugins/svc/webhooks/reaches-ai.ts -> plugins/svc/ai/call.ts',
    ]);
  });
});
