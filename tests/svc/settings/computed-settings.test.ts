import { expect } from 'chai';
import { createSystemClock } from '../../../host/clock.ts';
import { createHooks, type Hooks } from '../../../host/hooks/hooks.ts';
import { createRedactor } from '../../../host/log/redactor.ts';
import { createOptions, migrations, type Options } from '../../../host/options/options.ts';
import { createSecrets } from '../../../host/secrets/secrets.ts';
import { createBudgetStore } from '../../../plugins/svc/modules/budgets/budget-store.ts';
import { createFailoverStore } from '../../../plugins/svc/modules/failover/failover-store.ts';
import { createPriceStore } from '../../../plugins/svc/modules/usage/prices/price-store.ts';
import { createSettings, type Settings } from '../../../plugins/svc/settings/settings.ts';
import { configuredSettings } from '../../../plugins/svc/ai/provider-connection.ts';
import { describeDialects, silentLog } from '../../helpers/dialects.ts';
import { openOutbound } from '../webhooks/delivery/open-receiver.ts';
import { acme } from './fake-settings.ts';

/** What every call reads. Stored values are JSON that takes longer to read and check than the rest of the call. */
describeDialects('what calls read of saved options', (open) => {
  const clock = createSystemClock();
  let options: Options;
  let hooks: Hooks;
  let settings: Settings;

  beforeEach(async () => {
    const database = await open({ clock });
    await database.migrate('host', migrations);
    hooks = createHooks();
    const secrets = createSecrets({
      secretKey: 'a secret key of tests',
      dataDir: '/nowhere',
      redactor: createRedactor(),
    });
    options = createOptions({ database, hooks, clock, log: silentLog, secrets });
    await options.load();
    const host = { options, secrets, hooks, http: openOutbound({}), log: silentLog };
    settings = createSettings({ host, providers: { get: () => acme, all: () => [acme] } });
  });

  afterEach(() => options.stop());

  it('is read and checked once, until it changes', async () => {
    const prices = createPriceStore({ options, clock });
    const budgets = createBudgetStore({ options });
    const failover = createFailoverStore({ options });
    const changes: readonly (() => Promise<unknown>)[] = [
      () => prices.save('[{"provider":"acme","model":"a","input":1}]'),
      () => budgets.save({ id: 'one', name: 'One', scope: 'all', unit: 'calls', amount: 5, period: 'day' }),
      () => failover.save({ enabled: true }),
      () => settings.saveLimits({ text_timeout: 7 }),
      () => settings.saveAiParams({ temperature: 1 }),
      () => settings.providers.save(acme, { api_key: 'key-1', model: 'm' }),
    ];
    const reads: readonly (() => Promise<unknown>)[] = [
      prices.table,
      budgets.list,
      failover.get,
      settings.timeouts,
      settings.aiParams,
      () => configuredSettings(acme, { settings }),
    ];
    for (const change of changes) await change();
    const first = await Promise.all(reads.map((read) => read()));
    const kept = await Promise.all(reads.map((read) => read()));
    for (const [index, read] of reads.entries()) expect(await read(), `read ${index}`).to.equal(kept[index]);
    expect(kept).to.deep.equal(first);
    await settings.providers.save(acme, { model: 'n' });
    await failover.save({ enabled: false });
    expect(await configuredSettings(acme, { settings })).to.include({ api_key: 'key-1', model: 'n' });
    expect((await failover.get()).enabled).to.equal(false);
    expect(await settings.timeouts()).to.include({ text: 7000 });
  });

  it('is not changed by what a filter does to it', async () => {
    await settings.providers.save(acme, { api_key: 'key-1', deployments: ['a'] });
    for (let read = 0; read < 3; read++) expect((await settings.provider('acme')).model).to.equal('acme-1');
    const undo = hooks.addFilter('svc_provider_settings', (given) => {
      (given['deployments'] as string[]).push('b');
      return Object.assign(given, { model: 'filtered' });
    });
    for (let read = 0; read < 3; read++)
      expect(await configuredSettings(acme, { settings })).to.deep.include({
        model: 'filtered',
        deployments: ['a', 'b'],
      });
    undo();
    expect(await configuredSettings(acme, { settings })).to.deep.include({ model: 'acme-1', deployments: ['a'] });
  });
});
