import { defineRoute } from '../kit/route.ts';
import type { Catalogue } from './catalogue.ts';

/** `GET {base}/events`: the catalogue, for those who hold the key. */
export const eventsRoute = defineRoute<{ readonly webhooks: { readonly catalogue: Catalogue } }>({
  path: '/events',
  define: ({ webhooks }) => ({
    methods: ['GET'],
    summary: 'The events there are, with schema and example.',
    handler: () => webhooks.catalogue.list(),
  }),
});
