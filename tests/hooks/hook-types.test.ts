import { expect } from 'chai';
import { createHooks } from '../../host/hooks/hooks.ts';
import { silentLog } from '../helpers/silent-log.ts';

declare module '#plugin-api' {
  interface FilterMap {
    typed_price: (price: number, currency: string) => number;
  }
  interface SyncFilterMap {
    typed_limit: (limit: number) => number;
  }
  interface ActionMap {
    typed_sold: (id: number, buyer: { name: string }) => void;
  }
}

/** Compared by the type checker alone: `npm run check` fails when one of these does. */
type Equal<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;
const same = <Left, Right>(_proof: Equal<Left, Right>): void => undefined;

describe('types of hooks', () => {
  const hooks = createHooks({ log: silentLog, guardsFilters: true });

  it('come from the augmented maps for filters', async () => {
    hooks.addFilter('typed_price', (price, currency) => {
      same<typeof price, number>(true);
      same<typeof currency, string>(true);
      return currency === 'EUR' ? price * 2 : price;
    });
    hooks.addFilter('typed_price', async (price) => price + 1);
    hooks.removeAllFilters('typed_price', 11);
    // @ts-expect-error -- the answer has the wrong type.
    const wrong = (): unknown => hooks.addFilter('typed_price', () => 'expensive');
    // @ts-expect-error -- the second argument is missing.
    const incomplete = (): unknown => hooks.applyFilters('typed_price', 1);
    expect([wrong, incomplete]).to.have.length(2);
    const price = await hooks.applyFiltersAsync('typed_price', 2, 'EUR');
    same<typeof price, number>(true);
    expect(price).to.equal(5);
  });

  it('refuse a promise where the filter runs synchronously, and run the callback of an old plugin all the same', () => {
    hooks.addFilter('typed_limit', (limit) => limit + 1);
    // @ts-expect-error -- the filter runs synchronously.
    hooks.addFilter('typed_limit', async (limit) => limit + 2);
    // @ts-expect-error -- so does this one of the host.
    const ofHost = (): unknown => hooks.addFilter('map_meta_cap', async (required) => required);
    // @ts-expect-error -- and this one of the service.
    const ofService = (): unknown => hooks.addFilter('svc_providers', async (providers) => providers);
    hooks.addFilter('typed_limit', (limit) => limit * 10);
    expect([ofHost, ofService]).to.have.length(2);
    const limit = hooks.applyFilters('typed_limit', 1);
    same<typeof limit, number>(true);
    expect(limit).to.equal(20);
  });

  it('come from the augmented maps for actions', () => {
    const sold: string[] = [];
    hooks.addAction('typed_sold', (id, buyer) => {
      same<typeof id, number>(true);
      sold.push(`${id} ${buyer.name}`);
    });
    // @ts-expect-error -- the buyer has no name.
    const wrong = (): void => hooks.doAction('typed_sold', 1, {});
    expect(wrong).to.be.a('function');
    hooks.doAction('typed_sold', 1, { name: 'Ada' });
    expect(sold).to.deep.equal(['1 Ada']);
  });

  it('accept undeclared names', () => {
    hooks.addFilter('undeclared', (value: string, extra: number) => `${value}${extra}`);
    expect(hooks.applyFilters('undeclared', 'a', 1)).to.equal('a1');
  });
});
