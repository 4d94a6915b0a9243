import { RestError, RestResponse } from '#plugin-api';
import type { RestApi, RestRequest, RouteArgument, RouteDefinition } from '#plugin-api';
import { sanitizeTextField } from '../../host/rest/schema/text-fields.ts';

const echo = ({ params, url, query, form, json, route, method }: RestRequest): unknown => ({
  params,
  url,
  query,
  body: form,
  json,
  route,
  method,
});

/** One optional argument per case of the recording. */
const typeArguments: Record<string, RouteArgument> = {
  int: { type: 'integer' },
  int_rng: { type: 'integer', minimum: 1, maximum: 10 },
  int_ex: { type: 'integer', minimum: 1, exclusiveMinimum: true },
  num: { type: 'number', multipleOf: 0.5 },
  bool: { type: 'boolean' },
  str: { type: 'string' },
  str_pat: { type: 'string', pattern: '^a+$' },
  str_len: { type: 'string', minLength: 2, maxLength: 4 },
  enum: { type: 'string', enum: ['a', 'b'] },
  enum_int: { type: 'integer', enum: [1, 2] },
  email: { type: 'string', format: 'email' },
  uri: { type: 'string', format: 'uri' },
  dt: { type: 'string', format: 'date-time' },
  ip: { type: 'string', format: 'ip' },
  uuid: { type: 'string', format: 'uuid' },
  hex: { type: 'string', format: 'hex-color' },
  arr: { type: 'array', items: { type: 'integer' } },
  arr_u: { type: 'array', items: { type: 'string' }, uniqueItems: true, minItems: 1, maxItems: 3 },
  obj: {
    type: 'object',
    properties: { a: { type: 'integer', required: true }, b: { type: 'string' } },
    additionalProperties: false,
  },
  obj_open: { type: 'object', properties: { a: { type: 'integer' } } },
  obj_pat: { type: 'object', patternProperties: { '^x_': { type: 'integer' } }, additionalProperties: false },
  null: { type: 'null' },
  multi: { type: ['integer', 'string', 'null'] },
  multi2: { type: ['boolean', 'integer'] },
  anyof: {
    anyOf: [
      { type: 'integer', minimum: 5 },
      { type: 'string', minLength: 3 },
    ],
  },
  oneof: {
    oneOf: [
      { title: 'I', type: 'integer' },
      { title: 'S', type: 'string' },
    ],
  },
  vcb: { validate: (value) => !Number.isNaN(Number(value)) },
  vcbe: {
    validate: () => new RestError({ code: 'custom_code', message: 'Custom message', status: 422, data: { x: 1 } }),
  },
  scb: { sanitize: () => new RestError({ code: 'bad_san', message: 'San message', status: 418 }) },
  scb_only: { type: 'integer', sanitize: (value) => Math.abs(Math.trunc(Number(value))) },
  tf: { type: 'string', sanitize: (value) => sanitizeTextField(String(value)) },
  notype: {},
};

const answers: Record<string, () => unknown> = {
  err: () => new RestError({ code: 'my_err', message: 'My message', status: 409, data: { extra: [1, 2] } }),
  nostatus: () => new RestError({ code: 'my_err', message: 'No status' }),
  strdata: () => new RestError({ code: 'my_err', message: 'String data', data: 'hello' }),
  multi: () =>
    new RestError({
      code: 'e1',
      message: 'First',
      status: 400,
      additional: [
        new RestError({ code: 'e1', message: 'First again', status: 400 }),
        new RestError({ code: 'e2', message: 'Second', status: 401 }),
      ],
    }),
  adddata: () => new RestError({ code: 'e1', message: 'First', status: 422, data: { b: 2 } }),
  throw: () => {
    throw new Error('This text must not reach the caller.');
  },
  null: () => null,
  false: () => false,
  true: () => true,
  zero: () => 0,
  str: () => 'hi',
  arr: () => [],
  obj: () => ({}),
  list: () => [1, 2],
  c201: () => new RestResponse({ body: { ok: true }, status: 201, headers: { Location: '/x', 'X-Custom': '1' } }),
  c204: () => new RestResponse({ status: 204 }),
  c304: () => new RestResponse({ status: 304 }),
  nan: () => ({ x: Number.NaN }),
  float: () => ({ a: 1, b: 0.1, c: 1e25, u: 'é😀/<>&', e: [], o: {} }),
};

function linked(rest: RestApi): RestResponse {
  return new RestResponse({
    body: { id: 1, title: 't', nest: { a: 1, b: 2 } },
    headers: {
      'X-WP-Total': '5',
      'X-WP-TotalPages': '1',
      Link: `<${rest.url().replace(/\/wp-json\/$/, '')}/next>; rel="next"; title="T"`,
    },
    links: {
      self: [{ href: rest.url('/anch/v1/echo/1') }],
      up: [{ href: rest.url('/anch/v1/echo/2'), embeddable: true }],
      'https://api.w.org/thing': [{ href: rest.url('/anch/v1/err/err'), embeddable: true }],
    },
  });
}

const permissions: Record<string, unknown> = {
  true: true,
  false: false,
  null: null,
  zero: 0,
  empty: '',
  str: 'no',
  err: new RestError({ code: 'perm_err', message: 'Perm msg', status: 403 }),
};

/** Registers the routes that the recording was made over. */
export function registerOracleRoutes(rest: RestApi): void {
  const register = (route: string, definition: RouteDefinition | RouteDefinition[]): void =>
    void rest.registerRoute('anch/v1', route, definition);
  register('/echo/(?P<id>\\d+)', [
    {
      args: { id: { type: 'integer', minimum: 1 }, q: { type: 'string', default: 'dflt' } },
      handler: echo,
      allowBatch: true,
      schema: { title: 'echo', type: 'object', properties: { id: { type: 'integer', context: ['view'] } } },
    },
    {
      methods: ['POST', 'PUT', 'PATCH'],
      args: { id: { type: 'integer' }, label: { type: 'string', required: true, minLength: 2 } },
      handler: echo,
    },
    { methods: ['DELETE'], permission: ({ user }) => user.can('manage_options'), handler: echo },
  ]);
  register('/types', { methods: ['GET', 'POST'], args: typeArguments, handler: echo });
  register('/err/(?P<k>[a-z0-9_]+)', {
    methods: ['GET', 'POST'],
    handler: ({ params }) =>
      params['k'] === 'link' ? linked(rest) : (answers[String(params['k'])] ?? answers['arr'])?.(),
  });
  for (const [name, answer] of Object.entries(permissions))
    register(`/perm/${name}`, { permission: () => answer, handler: () => 'ok' });
  register('/noperm', { handler: () => 'ok' });
  register('/nocb', { handler: undefined as unknown as RouteDefinition['handler'] });
  register('/hidden', { showInIndex: false, handler: () => 'ok' });
  register('/vroute', {
    args: { a: { type: 'integer', required: true }, b: { type: 'integer' } },
    validate: ({ params }) =>
      params['a'] === 1 ? new RestError({ code: 'route_err', message: 'route validate', status: 400 }) : true,
    handler: echo,
  });
  register('/order', {
    methods: ['POST'],
    args: { a: { type: 'integer', required: true, default: 7 } },
    handler: echo,
  });
  register('/ov', { handler: () => 'first' });
  register('/ov', { methods: ['GET', 'POST'], handler: () => 'second' });
  register('/ov2', { handler: () => 'first' });
  register('/ov2', { override: true, handler: () => 'second' });
  register('/items', {
    args: {
      page: { type: 'integer', default: 1, minimum: 1 },
      per_page: { type: 'integer', default: 10, minimum: 1, maximum: 100 },
    },
    handler: (request) => items(rest, request),
  });
}

function items(rest: RestApi, { params }: RestRequest): RestResponse {
  const [page, perPage] = [Number(params['page']), Number(params['per_page'])];
  const pages = Math.ceil(25 / perPage);
  const body = Array.from({ length: 25 }, (_, index) => ({ id: index + 1 })).slice(
    (page - 1) * perPage,
    page * perPage,
  );
  const next = `<${rest.url('/anch/v1/items')}?page=${page + 1}&per_page=${perPage}>; rel="next"`;
  return new RestResponse({
    body,
    headers: { 'X-WP-Total': '25', 'X-WP-TotalPages': String(pages), ...(page < pages && { Link: next }) },
  });
}
