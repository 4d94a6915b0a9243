import type { Catalogue, CatalogueEntry } from '../catalogue.ts';
import { schemaVersion } from '../event.ts';

/** One field of an event's data, as the catalogue lists it. */
export interface FieldLine {
  /** `data.bot.id` */
  readonly path: string;
  readonly type: string;
  readonly description: string;
  readonly required: boolean;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

const maxDepth = 6;

/** All members of a schema in its order, including those of nested objects and lists. */
export function fieldLines(schema: Schema, path = 'data', depth = 0): FieldLine[] {
  if (depth >= maxDepth) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const here = `${path}.${name}`;
    const line = {
      path: here,
      type: typeName(member),
      description: member.description ?? '',
      required: schema.required?.includes(name) === true,
    };
    const inside = member.items?.properties
      ? fieldLines(member.items, `${here}[]`, depth + 1)
      : fieldLines(member, here, depth + 1);
    return [line, ...inside];
  });
}

function typeName({ type, enum: values, const: value, items, anyOf, oneOf, properties }: Schema): string {
  if (values) return values.map((one) => JSON.stringify(one)).join(' or ');
  if (value !== undefined) return JSON.stringify(value);
  const others = anyOf ?? oneOf;
  if (type === undefined && others) return [...new Set(others.map(typeName))].join(' or ');
  const names = type === undefined ? [properties ? 'object' : 'any'] : typeof type === 'string' ? [type] : type;
  return names.map((name) => (name === 'array' && items ? `list of ${typeName(items)}` : name)).join(' or ');
}

/** An example of a complete envelope (contract 6.4). */
export function exampleEnvelope(
  { name, example }: CatalogueEntry,
  site: { readonly url: string; readonly name: string },
  event: {
    readonly module: string;
    readonly origin: string;
    readonly plugin: { readonly slug: string; readonly version: string };
  },
): Record<string, unknown> {
  return {
    id: '5f0c2d9a-3f5b-4a57-9d0e-6c1f2b7a8e90',
    type: name,
    schema_version: schemaVersion,
    occurred_at: '2026-11-20T10:00:52+00:00',
    idempotency_key: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    site,
    plugin: event.plugin,
    source: { module: event.module, origin: event.origin },
    data: example,
  };
}

export interface CatalogueViewParts {
  readonly catalogue: Catalogue;
  readonly site: { readonly url: string; readonly name: string };
  readonly plugin: { readonly slug: string; readonly version: string };
  readonly eventsUrl: string;
}

/** The data of `svc/webhooks-catalogue`: events by module. */
export function catalogueView({ catalogue, site, plugin, eventsUrl }: CatalogueViewParts): Record<string, unknown> {
  const groups = new Map<string, Record<string, unknown>[]>();
  for (const entry of catalogue.list()) {
    const definition = catalogue.find(entry.name);
    const source = {
      module: definition?.module ?? '',
      origin: definition?.origins[0] ?? '',
      plugin: { slug: plugin.slug, version: plugin.version },
    };
    const event = {
      name: entry.name,
      anchor: entry.name.replaceAll(/[^a-z0-9]+/g, '-'),
      description: entry.description,
      queued: entry.queued,
      fields: fieldLines(entry.schema),
      example: JSON.stringify(exampleEnvelope(entry, site, source), null, 2),
      schema: JSON.stringify(entry.schema, null, 2),
    };
    groups.set(entry.module, [...(groups.get(entry.module) ?? []), event]);
  }
  return { schemaVersion, eventsUrl, groups: [...groups].map(([title, events]) => ({ title, events })) };
}
