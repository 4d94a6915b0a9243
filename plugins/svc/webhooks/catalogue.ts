import { createRequire } from 'node:module';
import type { Ajv, ValidateFunction } from 'ajv';
import type { HooksApi } from '#plugin-api';
import type { EventDefinition } from '../kit/define-event.ts';

/** Other names that a subscription may use (D26). */
const aliases: Readonly<Record<string, string>> = { 'chatbot.feedback_submitted': 'chatbot.fb_submitted' };

/**
 * All events: those of the service and those that plugins add with the filter `svc_event_schemas`. The filter receives and
 * returns an array of definitions as for `defineEvent`.
 */
export function createCatalogue({
  hooks,
  events,
}: {
  readonly hooks: Pick<HooksApi, 'applyFilters' | 'hasFilter'>;
  readonly events: readonly EventDefinition[];
}): Catalogue {
  const own = new Map(events.map((event) => [event.name, event]));

  function all(): ReadonlyMap<string, EventDefinition> {
    if (hooks.hasFilter('svc_event_schemas') === false) return own;
    const filtered = hooks.applyFilters('svc_event_schemas', [...events]);
    return new Map((Array.isArray(filtered) ? filtered : events).map((event) => [event.name, complete(event)]));
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
      const check = checkOf(event.schema);
      if (check(data)) return [];
      return (check.errors ?? []).map(
        ({ instancePath, message }) => `data${instancePath.replaceAll('/', '.')} ${message ?? 'is invalid'}.`,
      );
    },
  };
}

const require = createRequire(import.meta.url);
const checks = new WeakMap<object, ValidateFunction>();
let compiler: Ajv | undefined;

/** The first check of a schema compiles it. The first of all loads ajv's 68 files, not at the start, and synchronously. */
function checkOf(schema: EventDefinition['schema']): ValidateFunction {
  const known = checks.get(schema);
  if (known) return known;
  const { Ajv } = require('ajv') as typeof import('ajv');
  compiler ??= new Ajv({ strict: false, allowUnionTypes: true });
  const check = compiler.compile(schema);
  // The compiler would keep the schemas of plugins that are gone.
  compiler.removeSchema(schema);
  checks.set(schema, check);
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
  interface FilterMap {
    /** Adds events to the catalogue or changes existing ones. */
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
