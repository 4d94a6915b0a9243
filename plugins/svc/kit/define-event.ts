import type { Infer } from '#plugin-api';

/** Values that together identify an occurrence: a message id, a submission id, a queue item and its attempt (D19). */
export type NaturalIds = readonly (string | number | null | undefined)[];

export interface EventResourceInit {
  readonly id: string | number;
  readonly label?: string;
  /** Default: `resource` of the definition. */
  readonly type?: string;
}

/** One event: the source of its type, its catalog entry, its OpenAPI and its validation. */
export interface EventDefinition {
  /** For example `chatbot.session_started`. */
  readonly name: string;
  /** Title of its module in the catalog and the endpoint form (contract 6.2). */
  readonly group: string;
  /** `plugin.slug` and `plugin.version` of its envelopes (contract 6.4): `host.plugin` of the plugin. Default: those of the service. */
  readonly plugin?: { readonly slug: string; readonly version: string };
  /** `source.module` (D17). */
  readonly module: string;
  /** `source.origin` values; the first is the default (D17). */
  readonly origins: readonly string[];
  /** `resource.type` (D17). */
  readonly resource: string;
  /** When it is emitted, in one sentence. */
  readonly description: string;
  /** JSON Schema of `data`. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** A complete `data` that matches the schema. */
  readonly example: Readonly<Record<string, unknown>>;
  /** Whether the queue delivers it. Origins that begin with `admin_` or `manual_` are delivered synchronously (D17). */
  readonly queued: boolean;
  readonly naturalIds: (data: never) => NaturalIds;
  /** The resource that the data describe, or null. */
  readonly describe?: (data: never) => EventResourceInit | null;
  /** An ordered endpoint receives events with the same key one after the other. The key is the conversation. */
  readonly orderBy?: (data: never) => string | null;
}

type Schema = Readonly<Record<string, unknown>>;

type TypedEvent<S extends Schema> = Omit<
  EventDefinition,
  'schema' | 'example' | 'naturalIds' | 'describe' | 'orderBy'
> & {
  readonly schema: S;
  readonly example: Infer<S> & Schema;
  readonly naturalIds: (data: Infer<S>) => NaturalIds;
  readonly describe?: (data: Infer<S>) => EventResourceInit | null;
  readonly orderBy?: (data: Infer<S>) => string | null;
};

/**
 * Infers the types of an event from its schema: `type Data = EventData<typeof thatEvent>`.
 *
 * @throws Error when the name does not have the form `module.what_happened`
 */
export function defineEvent<const S extends Schema>(event: TypedEvent<S>): TypedEvent<S> {
  const error = eventNameError(event.name);
  if (error !== null) throw new Error(error);
  return event;
}

/** Null: the name has the form of an event's. */
export function eventNameError(name: unknown): string | null {
  return typeof name === 'string' && /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/.test(name)
    ? null
    : `'${String(name)}' is not a valid event name. Use the form 'chatbot.session_started'.`;
}

/** The `data` of an event from `defineEvent`. */
export type EventData<Event> = Event extends { readonly schema: infer S } ? Infer<S> : never;
