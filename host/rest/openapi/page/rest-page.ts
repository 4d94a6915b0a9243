import { currentLocale, translateText, restError } from '#plugin-api';
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

/** The admin page REST: all namespaces with their routes, and a reference of each from its OpenAPI document. */
export function createRestPage({ rest }: RestPageDependencies): AdminPageBody {
  return {
    render: ({ query }) => {
      const wanted = trimText(query['namespace']);
      return wanted === null
        ? Promise.resolve(overview(rest, trimText(query['q']) ?? ''))
        : reference(rest, { namespace: wanted, search: trimText(query['q']) ?? '' });
    },
  };
}

function trimText(value: AdminRequest['query'][string]): string | null {
  return typeof value === 'string' ? value.trim() : null;
}

function overview(rest: RestPageDependencies['rest'], search: string): View {
  const routes = rest.describe();
  const namespaces = [...new Set(routes.map(({ namespace }) => namespace))].sort();
  const listed = namespaces.map((namespace) => {
    const lines = routes
      .filter((route) => route.namespace === namespace && !isDocument(route))
      .flatMap(endpointLines)
      .filter(({ searchText }) => matches(searchText, search));
    return {
      ...namespaceUrls(rest, namespace),
      id: `namespace-${namespace.replace(/\W+/g, '-')}`,
      title: namespace === '' ? 'Root' : namespace,
      lines,
    };
  });
  const found = listed.filter(({ lines }) => lines.length > 0);
  const shown = found.map((namespace) => ({ ...namespace, open: search !== '' || found.length === 1 }));
  return {
    template: 'admin/pages/rest',
    data: { root: rest.url('/'), search, namespaces: shown, isEmpty: shown.length === 0 },
  };
}

/** The page already links the document of each namespace. */
function isDocument({ route, showInIndex }: RouteSummary): boolean {
  return !showInIndex && route.endsWith('/openapi.json');
}

function namespaceUrls(rest: RestPageDependencies['rest'], namespace: string): Record<string, string> {
  const base = rest.url(`/${namespace}`).replace(/\/$/, '');
  return { base, document: `${base}/openapi.json`, query: `?namespace=${encodeURIComponent(namespace)}` };
}

/** One line per endpoint of a route. */
function endpointLines({ route, endpoints, showInIndex, allowsBatch }: RouteSummary) {
  return endpoints.map(({ methods, summary, args, security }) => ({
    methods: methods.map((method) => ({ text: method, kind: methodKinds[method] ?? '' })),
    route,
    summary: summary ?? '',
    args: args.map(({ name, type, required }) => ({ name, type, required })),
    signIn: new Intl.ListFormat(currentLocale(), { type: 'disjunction' }).format(security.map(securityText)),
    isHidden: !showInIndex,
    allowsBatch,
    searchText: [route, summary ?? '', ...methods, ...args.map(({ name }) => name)].join(' '),
  }));
}

const methodKinds: Readonly<Record<string, string>> = {
  GET: 'info',
  POST: 'success',
  PUT: 'warning',
  PATCH: 'warning',
  DELETE: 'error',
};

function securityText(scheme: RouteSecurity): string {
  if (typeof scheme === 'object') return `${scheme.in} ${scheme.name}`;
  return translateText(
    {
      none: 'public',
      session: 'session with nonce',
      application_password: 'application password',
      bearer: 'API key (Bearer)',
    }[scheme],
  );
}

async function reference(
  rest: RestPageDependencies['rest'],
  { namespace, search }: { readonly namespace: string; readonly search: string },
): Promise<View> {
  const document = await rest.openapi(namespace);
  if (document === null)
    throw restError(404, 'rest_namespace_not_found', `The namespace '${namespace}' does not exist.`);
  const { describeReference } = await import('./reference.ts');
  const { operations, webhooks } = describeReference(document);
  const found = operations.filter((operation) => matches(searchTextOf(operation), search));
  const events = webhooks.filter((webhook) => matches(searchTextOf(webhook), search));
  const only = found.length + events.length === 1;
  const groups = [...new Set(found.map(({ tag }) => tag))].map((tag, index) => ({
    tag,
    id: `group-${index + 1}`,
    operations: found.filter((operation) => operation.tag === tag).map((operation) => ({ ...operation, open: only })),
  }));
  return {
    template: 'admin/pages/rest-reference',
    data: {
      ...namespaceUrls(rest, namespace),
      namespace,
      title: namespace === '' ? 'Root' : namespace,
      version: document.info.version,
      search,
      groups,
      webhooks: events.map((webhook) => ({ ...webhook, open: only })),
      isEmpty: found.length + events.length === 0,
    },
  };
}

function searchTextOf({ method, path, summary, description, tag, parameters, body }: OperationView): string {
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

/** Whether the text contains every search term, ignoring case. */
function matches(text: string, search: string): boolean {
  const lower = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((term) => lower.includes(term));
}
