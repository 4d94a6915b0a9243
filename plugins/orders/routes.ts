import { argumentBounds, pagedResponse, pagingArguments, requireFound, RestResponse, type HostApi } from '#plugin-api';
import { states, type Orders } from './orders.ts';

const orderSchema = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    customer: { type: 'string' },
    total: { type: 'integer', description: 'Cents.' },
    state: { type: 'string', enum: states },
    created_at: { type: 'integer', description: 'Milliseconds since 1970.' },
    sent_at: { type: ['integer', 'null'], description: 'Milliseconds since 1970; null before it is sent.' },
  },
} as const;

export function registerRoutes(host: HostApi, orders: Orders): void {
  const permission = ({ user }: { readonly user: { can(capability: string): boolean } }): boolean =>
    user.can('orders_manage');
  host.rest.registerRoute('orders/v1', '/orders', {
    summary: 'Lists orders, newest first.',
    args: { ...pagingArguments, state: { type: 'string', enum: states, description: 'Only orders in this state.' } },
    permission,
    schema: orderSchema,
    async handler(request) {
      const { page, per_page, state } = request.params;
      const found = await orders.find({ limit: per_page, offset: (page - 1) * per_page, ...(state && { state }) });
      return pagedResponse(found, {
        total: await orders.count(state),
        url: host.rest.url('/orders/v1/orders'),
        request,
      });
    },
  });
  host.rest.registerRoute('orders/v1', '/orders', {
    methods: ['POST'],
    summary: 'Adds an order.',
    args: {
      // PostgreSQL stores no text with a null character.
      customer: { type: 'string', minLength: 1, ...argumentBounds.key, pattern: '^[^\\u0000]*$', required: true },
      total: { type: 'integer', minimum: 0, maximum: 100_000_000, required: true, description: 'Cents.' },
    },
    permission,
    schema: orderSchema,
    handler: async ({ params }) => new RestResponse({ status: 201, body: await orders.add(params) }),
  });
  host.rest.registerRoute('orders/v1', '/orders/{id}', {
    summary: 'Returns an order.',
    args: { id: { type: 'integer', ...argumentBounds.id, required: true } },
    permission,
    schema: orderSchema,
    handler: async ({ params }) =>
      requireFound(await orders.get(params.id), {
        code: 'orders_not_found',
        message: 'There is no order with this id.',
        status: 404,
      }),
  });
}
