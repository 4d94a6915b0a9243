import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { openSite } from '../users/routes-site.ts';

describeHosts('GET /host/v1/hooks', (dialectCase) => {
  it('lists hooks with callbacks, owners and counts, for those who may manage options', async () => {
    const site = await openSite(dialectCase);
    try {
      site.host.hooks.addFilter(
        'shop_price',
        function raise(price: unknown) {
          return price;
        },
        7,
      );
      site.host.hooks.applyFilters('shop_price', 1);
      site.host.hooks.doAction('shop_unheard');
      expect((await site.call('/host/v1/hooks')).status).to.equal(401);
      const call = await site.as(await site.create({ login: 'admin', role: 'administrator' }));
      const { body, headers } = await call('/host/v1/hooks?search=SHOP_PRICE');
      const [{ callbacks = [] } = {}] = body as unknown as { readonly callbacks?: { position?: string }[] }[];
      expect(callbacks[0]?.position).to.match(/hooks-route\.test\.ts:\d+$/);
      delete callbacks[0]?.position;
      expect(body).to.deep.equal([
        {
          name: 'shop_price',
          filters: 1,
          actions: 0,
          callbacks: [{ priority: 7, kind: 'filter', owner: 'host', callback: 'raise', acceptedArgs: null }],
        },
      ]);
      expect(headers.get('x-wp-total')).to.equal('1');
      expect((await call('/host/v1/hooks?owner=unknown')).body).to.deep.equal([]);
      const names = async (query: string) =>
        ((await call(`/host/v1/hooks?search=shop_&${query}`)).body as unknown as { name: string }[]).map(
          ({ name }) => name,
        );
      expect(await names('callbacks=false')).to.deep.equal(['shop_unheard']);
      expect(await names('callbacks=true')).to.deep.equal(['shop_price']);
      expect((await call('/host/v1/hooks?search=raise')).body).to.have.length(1);
    } finally {
      await site.host.stop();
    }
  });
});
