import { formFields, restError, translateText } from '#plugin-api';
import { endpointSchema, newEndpoint } from '../endpoint.ts';
import type { Endpoint, EndpointInput, EndpointSettings } from '../endpoint.ts';
import type { WebhookPagesContext } from './pages-context.ts';

const newForm: Omit<Endpoint, 'id'> = { ...newEndpoint, secret: null, headers: {}, held: null };

/** What the editor shows: a new endpoint, an existing one, or a copy. */
export interface EditorTarget {
  readonly id: string | null;
  readonly copyOf?: string;
  /** A rejected form with its values and errors. */
  readonly rejected?: {
    readonly input: EndpointInput;
    readonly shownHeaders: string;
    readonly errors: Readonly<Record<string, string>>;
  };
}

/**
 * The data of `svc/webhooks-endpoint`.
 *
 * @throws RestError 404 for an unknown id.
 */
export async function endpointView(
  { webhooks }: WebhookPagesContext,
  { id, copyOf, rejected }: EditorTarget,
): Promise<Record<string, unknown>> {
  const settings = await webhooks.settings();
  const found = settings.endpoints.find((endpoint) => endpoint.id === (id ?? copyOf));
  if (!found && (id ?? copyOf) !== undefined && (id ?? copyOf) !== null)
    throw restError(404, 'rest_svc_webhook_not_found', 'Webhook endpoint not found. It may have been deleted.');
  const saved = id !== null && found ? found : { ...newForm, ...(found && copied(found)) };
  const { secret: _secret, headers: _headers, ...typed } = rejected?.input ?? {};
  const shown = { ...saved, ...typed };
  const errors = rejected?.errors ?? {};
  const fields = formFields(endpointSchema, { values: shown, errors, id: 'endpoint' });
  const known = new Set(webhooks.catalogue.list().map(({ name }) => name));
  const groups = groupEvents(webhooks, shown.events);
  return {
    ...shown,
    id: id ?? '',
    idFields: { id },
    isSaved: id !== null,
    receivesNothing: id !== null && saved.events.length === 0,
    errors,
    fields: Object.fromEntries(fields.map((field) => [field.path, field])),
    secretState: id !== null && saved.secret !== null ? secretState(saved.secret) : { saved: false },
    savedHeaders: id === null ? [] : Object.entries(saved.headers).map(([name, value]) => ({ name, value })),
    headerLines: rejected?.shownHeaders ?? (id === null && found ? headerNames(found) : ''),
    groups,
    eventCount: {
      selected: groups.flatMap(({ events }) => events).filter(({ checked }) => checked).length,
      count: known.size,
    },
    unknownEvents: shown.events.filter((name) => !known.has(name)).join(', '),
    copyNote:
      copyOf !== undefined && found !== undefined && (found.secret !== null || Object.keys(found.headers).length > 0),
    advancedOpen:
      ['internal', 'secret', 'headers', 'redirects'].some((name) => name in errors) ||
      isAdvanced(shown, id !== null ? saved : newForm),
    webhooksOff: !settings.enabled,
    testEvents: saved.events.filter((name) => known.has(name)),
  };
}

function copied({
  name,
  secret: _secret,
  headers: _headers,
  ...rest
}: Endpoint): Omit<Endpoint, 'id' | 'secret' | 'headers'> {
  return { ...rest, name: `${name} ${translateText('(copy)')}`.slice(0, 200) };
}

/** Splits `ends in abcd` for the secret field. */
function secretState(masked: string): Record<string, unknown> {
  const [, ending] = /^ends in (.{4})$/.exec(masked) ?? [];
  return { saved: true, ...(ending !== undefined && { ending }) };
}

/** The names of the headers; their values have to be entered again. */
function headerNames({ headers }: Endpoint): string {
  return Object.keys(headers)
    .map((name) => `${name}: `)
    .join('\n');
}

const advanced = ['internal', 'standardWebhooks', 'redirects', 'longTail', 'ordered'] as const;

function isAdvanced(shown: EndpointSettings, { secret, headers }: Pick<Endpoint, 'secret' | 'headers'>): boolean {
  return (
    advanced.some((name) => shown[name] !== newEndpoint[name]) || secret !== null || Object.keys(headers).length > 0
  );
}

/** Groups events by module in the order of the catalogue. */
function groupEvents({ catalogue }: WebhookPagesContext['webhooks'], chosen: readonly string[]) {
  const ticked = new Set(chosen.map((name) => catalogue.resolveName(name) ?? name));
  const groups = new Map<
    string,
    { readonly name: string; readonly description: string; readonly checked: boolean; readonly id: string }[]
  >();
  for (const { name, module, description } of catalogue.list()) {
    groups.set(module, [
      ...(groups.get(module) ?? []),
      { name, description, checked: ticked.has(name), id: `event-${name.replaceAll('.', '-')}` },
    ]);
  }
  return [...groups].map(([title, events], index) => ({
    title,
    events,
    many: events.length > 1,
    id: `events-${String(index + 1)}`,
  }));
}
