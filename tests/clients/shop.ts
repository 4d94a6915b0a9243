import { RestError, RestResponse } from '#plugin-api';
import type { Clock, RestApi, RestRequest } from '#plugin-api';
import { createTestHost } from '#testing';
import type { TestHost } from '#testing';

export interface Item {
  readonly id: number;
  readonly title: string;
}

export const administrator = { login: 'ada', password: 'correct horse battery' };

interface ShopInit {
  readonly clock?: Clock;
  /** Default: in memory. */
  readonly location?: { readonly databaseUrl: string | null; readonly dataDir: string };
}

/**
 * A running site with an administrator and a namespace of 25 items, as a plugin would register it. The action `shop_reset`
 * brings the items back as they were.
 */
export async function startShop({ clock, location }: ShopInit = {}): Promise<TestHost> {
  const host = await createTestHost({
    ...(clock && { clock }),
    ...(location && { database: location.databaseUrl ?? location.dataDir }),
  });
  await host.users.create({
    login: administrator.login,
    email: 'ada@example.test',
    password: administrator.password,
    role: 'administrator',
  });
  registerShop(host);
  return host;
}

function registerShop({ rest, hooks }: TestHost): void {
  const items = new Map<number, Item>();
  const reset = (): void => {
    items.clear();
    for (let id = 1; id <= 25; id += 1) items.set(id, { id, title: `Item ${id}` });
  };
  reset();
  hooks.addAction('shop_reset', reset);
  const find = ({ params }: RestRequest): Item => {
    const item = items.get(Number(params['id']));
    if (item === undefined)
      throw new RestError({
        code: 'shop_no_item',
        message: 'There is no such item.',
        status: 404,
        data: { id: params['id'] },
      });
    return item;
  };
  const save = (item: Item): Item => {
    items.set(item.id, item);
    return item;
  };
  const permission = ({ user }: RestRequest): boolean => user.can('manage_options');
  const title = { type: 'string', minLength: 1, required: true } as const;

  rest.registerRoute('shop/v1', '/items', [
    {
      args: {
        page: { type: 'integer', minimum: 1, default: 1 },
        per_page: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
      },
      handler: (request) => listItems(rest, [...items.values()], request),
    },
    {
      methods: ['POST'],
      args: { title },
      permission,
      handler: ({ params }) =>
        new RestResponse({ status: 201, body: save({ id: items.size + 1, title: String(params['title']) }) }),
    },
  ]);
  rest.registerRoute('shop/v1', '/items/(?P<id>\\d+)', [
    { handler: find },
    {
      methods: ['POST', 'PUT', 'PATCH'],
      args: { title },
      permission,
      handler: (request) => save({ ...find(request), title: String(request.params['title']) }),
    },
    {
      methods: ['DELETE'],
      permission,
      handler: (request) => {
        items.delete(find(request).id);
        return new RestResponse({ status: 204 });
      },
    },
  ]);
  rest.registerRoute('shop/v1', '/echo', {
    methods: ['POST', 'PUT'],
    handler: ({ method, headers, json, user }) => ({
      method,
      override: headers['x-http-method-override'] ?? null,
      json,
      user: user.login,
    }),
  });
}

/** One page, with the headers that WordPress's own lists have. */
function listItems(rest: RestApi, items: readonly Item[], { params }: RestRequest): RestResponse {
  const [page, size] = [Number(params['page']), Number(params['per_page'])];
  const pages = Math.ceil(items.length / size);
  const address = (wanted: number): string => `${rest.url('/shop/v1/items')}?per_page=${size}&page=${wanted}`;
  const links = [
    ...(page > 1 ? [`<${address(page - 1)}>; rel="prev"`] : []),
    ...(page < pages ? [`<${address(page + 1)}>; rel="next"`] : []),
  ];
  return new RestResponse({
    body: items.slice((page - 1) * size, page * size),
    headers: {
      'X-WP-Total': String(items.length),
      'X-WP-TotalPages': String(pages),
      ...(links.length > 0 && { Link: links.join(', ') }),
    },
  });
}
