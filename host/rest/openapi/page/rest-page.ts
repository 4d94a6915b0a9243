import { RestError } from '#plugin-api';
import type { AdminPageBody, AdminRequest, RouteSecurity } from '#plugin-api';
import type { Rest, RouteSummary } from '../../rest-contract.ts';
import type { OperationView } from './reference.ts';

export interface RestPageDependencies {
  readonly rest: Pick<Rest, 'describe' | 'openapi' | 'url'>;
}

interface View {
  readonly template: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The admin page REST: every namespace with its routes, and a reference of each made from its OpenAPI document. */
export function createRestPage({ rest }: RestPageDependencies): AdminPageBody {
  return {
    render: ({ query }) => {
      const wanted = textOf(query['namespace']);
      return wanted === null
        ? Promise.resolve(overview(rest, textOf(query['q']) ?? ''))
        : reference(rest, { namespace: wanted, search: textOf(query['q']) ?? '' });
    },
  };
}

function textOf(value: AdminRequest['query'][string]): string | null {
  return typeof value === 'string' ? value.trim() : null;
}

function overview(rest: RestPageDependencies['rest'], search: string): View {
  const routes = rest.describe();
  const namespaces = [...new Set(routes.map(({ namespace }) => namespace))].sort();
  const listed = namespaces.map((namespace) => {
    const lines = routes
      .filter((route) => route.namespace === namespace && !isDocument(route))
      .flatMap(endpointLines)
      .filter(({ words }) => matches(words, search));
    return {
      ...addressesOf(rest, namespace),
      id: `namespace-${namespace.replace(/\W+/g, '-')}`,
      title: namespace === '' ? 'The root' : namespace,
      lines,
    };
  });
  const shown = listed.filter(({ lines }) => lines.length > 0);
  return {
    template: 'admin/pages/rest',
    data: { root: rest.url('/'), search, namespaces: shown, isEmpty: shown.length === 0 },
  };
}

/** Each namespace has a link to its document already. */
function isDocument({ route, showInIndex }: RouteSummary): boolean {
  return !showInIndex && route.endsWith('/openapi.json');
}

function addressesOf(rest: RestPageDependencies['rest'], namespace: string): Record<string, string> {
  const base = rest.url(`/${namespace}`).replace(/\/$/, '');
  return { base, document: `${base}/openapi.json`, query: `?namespace=${encodeURIComponent(namespace)}` };
}

/** One line for each definition of a route. */
function endpointLines({ route, endpoints, showInIndex, allowsBatch }: RouteSummary) {
  return endpoints.map(({ methods, summary, args, security }) => ({
    methods: methods.map((method) => ({ text: method, kind: methodKinds[method] ?? '' })),
    route,
    summary: summary ?? '',
    args: args.map(({ name, type, required }) => ({ name, type, required })),
    signIn: security.map(securityText).join(', or '),
    isHidden: !showInIndex,
    allowsBatch,
    words: [route, summary ?? '', ...methods, ...args.map(({ name }) => name)].join(' '),
  }));
}

const methodKinds: Readonly<Record<string, string>> = {
  GET: 'info',
  POST: 'success',
  PUT: 'warning',
  PATCH: 'warning',
  DELETE: 'error',
};

function securityText(way: RouteSecurity): string {
  if (typeof way === 'object') return `${way.in} ${way.name}`;
  return {
    none: 'open to everybody',
    session: 'session with nonce',
    application_password: 'application password',
    bearer: 'key as bearer token',
  }[way];
}

async function reference(
  rest: RestPageDependencies['rest'],
  { namespace, search }: { readonly namespace: string; readonly search: string },
): Promise<View> {
  const document = await rest.openapi(namespace);
  if (document === null)
    throw new RestError({
      code: 'rest_namespace_not_found',
      message: `There is no namespace '${namespace}'.`,
      status: 404,
    });
  const { describeReference } = await import('./reference.ts');
  const { operations, webhooks } = describeReference(document);
  const found = operations.filter((operation) => matches(wordsOf(operation), search));
  const events = webhooks.filter((webhook) => matches(wordsOf(webhook), search));
  const only = found.length + events.length === 1;
  const groups = [...new Set(found.map(({ tag }) => tag))].map((tag, index) => ({
    tag,
    id: `group-${index + 1}`,
    operations: found.filter((operation) => operation.tag === tag).map((operation) => ({ ...operation, open: only })),
  }));
  return {
    template: 'admin/pages/rest-reference',
    data: {
      ...addressesOf(rest, namespace),
      namespace,
      title: namespace === '' ? 'The root' : namespace,
      version: document.info.version,
      search,
      groups,
      webhooks: events.map((webhook) => ({ ...webhook, open: only })),
      isEmpty: found.length + events.length === 0,
    },
  };
}

function wordsOf({ method, path, summary, description, tag, parameters, body }: OperationView): string {
  return [
    method,
    path,
    summary,
    description,
    tag,
    ...parameters.map(({ name }) => name),
    ...(body?.fields ?? []).map(({ name }) => name),
  ].join(' ');
}

/** Every word of the search is somewhere in the text, whatever its case. */
function matches(text: string, search: string): boolean {
  const lower = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}
