import { defineRoute } from '../kit/route.ts';
import type { Catalogue } from './catalogue.ts';

/** `GET {base}/events`: the event catalogue. */
export const eventsRoute = defineRoute<{ readonly webhooks: { readonly catalogue: Catalogue } }>({
  path: '/events',
  access: 'events',
  define: ({ webhooks }) => ({
    methods: ['GET'],
    summary: 'Lists all events with schema and example.',
    handler: () => webhooks.catalogue.list(),
  }),
});
