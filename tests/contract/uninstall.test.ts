import { expect } from 'chai';
import { goodRequest, startService } from './service.ts';

describe('deactivating and removing the service', () => {
  it('takes its routes away at once, and then everything it stored', async () => {
    const service = await startService();
    try {
      const { host } = service;
      await host.cli('svc', 'provider', 'set', 'openai', '--api-key=sk-0123456789abcdef');
      await host.plugins.deactivate('svc');
      expect((await service.generate(goodRequest)).body.code).to.equal('rest_no_route');
      await host.plugins.uninstall('svc');
      expect(Object.keys(await host.options.list('svc_'))).to.deep.equal([]);
      expect(await host.database.knex.schema.hasTable('svc_rate_windows')).to.equal(false);
      await host.plugins.activate('svc');
      expect(await host.database.knex.schema.hasTable('svc_rate_windows')).to.equal(true);
    } finally {
      await service.stop();
    }
  });

  it('by deactivation alone forgets nothing: what was saved is used again', async () => {
    const service = await startService();
    try {
      await service.host.plugins.deactivate('svc');
      await service.host.plugins.activate('svc');
      expect((await service.generate(goodRequest)).status).to.equal(200);
    } finally {
      await service.stop();
    }
  });
});
