import type { AdminPageBody } from '#plugin-api';
import type { ServiceContext } from '../../wiring.ts';
import { storeActions, storesTemplate } from './store-actions.ts';
import { storesView } from './stores-view.ts';

/** The page "Vector stores": settings of each store, and the indexes or collections of those that are configured. */
export function storesPage(context: ServiceContext): AdminPageBody {
  return {
    render: async (request) => {
      const chosen = request.query['store'];
      return {
        template: storesTemplate,
        data: { ...(await storesView(context)), openStore: typeof chosen === 'string' ? chosen : '' },
      };
    },
    actions: storeActions(context),
  };
}
