import type { AdminPageBody } from '#plugin-api';
import type { VectorStoresPorts } from './module.ts';
import { storeActions, storesTemplate } from './store-actions.ts';
import { storesView } from './stores-view.ts';

/** The page "Vector stores": settings of each store, and the indexes or collections of the configured ones. */
export function createPage(ports: VectorStoresPorts): AdminPageBody {
  return {
    render: async (request) => {
      const { store: openStore, list: listed } = request.query;
      return {
        template: storesTemplate,
        data: {
          ...(await storesView(ports, { listed: typeof listed === 'string' ? listed : '' })),
          openStore: typeof openStore === 'string' ? openStore : '',
        },
      };
    },
    actions: storeActions(ports),
  };
}
