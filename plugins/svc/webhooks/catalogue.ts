import { createRequire } from 'node:module';
import type { Ajv, ValidateFunction } from 'ajv';
import { endSentence, errorText, isRecord, type HooksApi } from '#plugin-api';
import { eventNameError, type EventDefinition } from '../kit/define-event.ts';
import { createOwnerWarnings, type WarningHooks } from '../kit/registry.ts';

/** Other names that a subscription may use (D26). */
const aliases: Readonly<Record<string, string>> = { 'chatbot.feedback_submitted': 'chatbot.fb_submitted' };

/** Compiled schemas to remember by their text. */
const maxSchemas = 500;

/**
 * All events: those of the service and those that plugins add with the filter `svc_event_schemas`. The filter receives and
 * returns an array of definitions as for `defineEvent`. A definition that cannot be used is left out, and its plugin is warned.
 */
export function createCatalogue({ hooks, events }: CatalogueDependencies): Catalogue {
  const own = new Map(events.map((event) => [event.name, event]));
  const warn = createOwnerWarnings(hooks, 'svc_event_schemas');
  const accepted = new WeakSet<object>();

  /** Why a definition of a plugin cannot be used, or null. */
  function findRefusal(event: EventDefinition, taken: ReadonlyMap<string, EventDefinition>): string | null {
    const badName = eventNameError(event.name);
    if (badName !== null) return badName;
    if (own.has(event.name))
      return `'${event.name}' is an event of the service. Choose a name that begins with your own.`;
    if (taken.has(event.name)) return `there is an event '${event.name}' already. Choose another name.`;
    if (accepted.has(event)) return null;
    try {
      checkOf(event);
    } catch (error) {
      return `the schema of '${event.name}' is not valid: ${endSentence(errorText(error))}`;
    }
    accepted.add(event);
    const [wrong] = errorsOf(checkOf(event), event.example);
    if (wrong !== undefined) warn(`the example of the event '${event.name}' does not fit its schema: ${wrong}`);
    return null;
  }
  function all(): ReadonlyMap<string, EventDefinition> {
    if (hooks.hasFilter('svc_event_schemas') === false) return own;
    const filtered: unknown = hooks.applyFilters('svc_event_schemas', [...events]);
    const found = new Map<string, EventDefinition>();
    if (!Array.isArray(filtered)) warn('the value is no array of events, so it is ignored.');
    for (const given of Array.isArray(filtered) ? filtered : events) {
      const event = complete(isRecord(given) ? (given as unknown as EventDefinition) : { name: String(given) });
      const refusal = own.get(event.name) === given ? null : findRefusal(event, found);
      if (refusal === null) found.set(event.name, own.get(event.name) ?? event);
      else warn(`an event is left out: ${refusal}`);
    }
    return found;
  }
  const find = (name: string): EventDefinition | undefined => own.get(name) ?? all().get(name);

  return {
    list: () =>
      [...all().values()].map(({ name, group, description, schema, example, queued }) => ({
        name,
        module: group,
        description,
        schema,
        example,
        queued,
      })),
    find,
    resolveName(name) {
      const known = aliases[name.trim()] ?? name.trim();
      return find(known) ? known : null;
    },
    findErrors(name, data) {
      const event = find(name);
      if (!event) return [`There is no event named '${name}'.`];
      return errorsOf(checkOf(event), data);
    },
  };
}

interface CatalogueDependencies {
  readonly hooks: Pick<HooksApi, 'applyFilters' | 'hasFilter'> & WarningHooks;
  readonly events: readonly EventDefinition[];
}

function errorsOf(check: ValidateFunction, data: unknown): string[] {
  if (check(data)) return [];
  return (check.errors ?? []).map(
    ({ instancePath, message }) => `data${instancePath.replaceAll('/', '.')} ${message ?? 'is invalid'}.`,
  );
}

const require = createRequire(import.meta.url);
const checks = new WeakMap<object, ValidateFunction>();
/** A filter may build the same definition at each call. */
const checksByText = new Map<string, ValidateFunction>();
let compiler: Ajv | undefined;

/** The first check of a schema compiles it. The first of all loads ajv's 68 files, not at the start, and synchronously. */
function checkOf({ schema }: Pick<EventDefinition, 'schema'>): ValidateFunction {
  const known = checks.get(schema);
  if (known) return known;
  const text = JSON.stringify(schema);
  const check = checksByText.get(text) ?? compile(schema);
  checks.set(schema, check);
  if (checksByText.size >= maxSchemas) checksByText.clear();
  checksByText.set(text, check);
  return check;
}

/** Formats are checked, unknown ones accepted, and nothing is printed. */
function compile(schema: EventDefinition['schema']): ValidateFunction {
  if (compiler === undefined) {
    const { Ajv } = require('ajv') as typeof import('ajv');
    const addFormats = require('ajv-formats') as unknown as (target: Ajv) => void;
    compiler = new Ajv({ strict: false, allowUnionTypes: true, logger: false });
    addFormats(compiler);
  }
  const check = compiler.compile(schema);
  // The compiler would keep the schemas of plugins that are gone.
  compiler.removeSchema(schema);
  return check;
}

const completed = new WeakMap<object, EventDefinition>();

/** Fills in members that a plugin may omit. */
function complete(event: Partial<EventDefinition> & Pick<EventDefinition, 'name'>): EventDefinition {
  const known = completed.get(event);
  if (known) return known;
  const definition = {
    group: 'Other',
    module: 'plugin',
    origins: ['plugin'],
    resource: 'event',
    description: '',
    schema: {},
    example: {},
    queued: true,
    naturalIds: () => [],
    ...event,
  };
  completed.set(event, definition);
  return definition;
}

declare module '#plugin-api' {
  interface SyncFilterMap {
    /** Adds events to the catalogue, under names that are free. Those of the service cannot be changed. */
    svc_event_schemas: (events: readonly EventDefinition[]) => readonly EventDefinition[];
  }
}

/** One event as pages, `GET {base}/events` and OpenAPI show it. */
export interface CatalogueEntry {
  readonly name: string;
  /** Title of the module, for example `Chatbots` (contract 6.2). */
  readonly module: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example: Readonly<Record<string, unknown>>;
  /** Whether it is queued by default (D17). */
  readonly queued: boolean;
}

export interface Catalogue {
  /** In the order of contract 6.2, then those of plugins. */
  list(): readonly CatalogueEntry[];
  find(name: string): EventDefinition | undefined;
  /** Name as stored in a subscription (D26), or null for an unknown event. */
  resolveName(name: string): string | null;
  /** Returns a sentence for each error in the data; empty if the data is valid. */
  findErrors(name: string, data: unknown): readonly string[];
}
