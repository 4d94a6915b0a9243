/** Values that together name an act: a message id, a submission id, a queue item and its attempt (D19). */
export type NaturalIds = readonly (string | number | null | undefined)[];

export interface EventResourceInit {
  readonly id: string | number;
  readonly label?: string;
  /** Default: `resource` of the definition. */
  readonly type?: string;
}

/** One event: the one source of its type, its catalogue entry, its OpenAPI and what its data are checked by. */
export interface EventDefinition {
  /** For example `chatbot.session_started`. */
  readonly name: string;
  /** Title of its module in the catalogue and the endpoint form (contract 6.2). */
  readonly group: string;
  /** `source.module` (D17). */
  readonly module: string;
  /** `source.origin` values; the first is the default (D17). */
  readonly origins: readonly string[];
  /** `resource.type` (D17). */
  readonly resource: string;
  /** When it fires, one sentence. */
  readonly description: string;
  /** JSON Schema of `data`. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** A whole `data` that its schema accepts. */
  readonly example: Readonly<Record<string, unknown>>;
  /** Waits in the queue, unless its origin begins with `admin_` or `manual_` (D17). */
  readonly queued: boolean;
  readonly naturalIds: (data: never) => NaturalIds;
  /** The resource the data tell of, or null. */
  readonly describe?: (data: never) => EventResourceInit | null;
  /** Key of those events that an ordered endpoint gets one after the other: the conversation. */
  readonly orderBy?: (data: never) => string | null;
}

type Schema = Readonly<Record<string, unknown>>;

/**
 * The type that a schema describes, as far as schemas of events go: types and lists of them, enums, anyOf, objects and
 * arrays. `json-schema-to-ts` knows more, and takes the compiler a minute for one event with a few nested objects.
 */
type DataOf<S> = S extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : S extends { readonly anyOf: readonly (infer Part)[] }
    ? DataOf<Part>
    : S extends { readonly type: infer Type }
      ? Type extends readonly (infer One)[]
        ? OfType<One, S>
        : OfType<Type, S>
      : unknown;

type OfType<Type, S> = Type extends keyof Scalars
  ? Scalars[Type]
  : Type extends 'array'
    ? S extends { readonly items: infer Item }
      ? readonly DataOf<Item>[]
      : readonly unknown[]
    : S extends { readonly properties: infer Properties }
      ? ObjectOf<Properties, S extends { readonly required: readonly (infer Name)[] } ? Name : never>
      : Schema;

interface Scalars {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly null: null;
}

type ObjectOf<Properties, Required> = {
  readonly [Name in keyof Properties as Name extends Required ? Name : never]: DataOf<Properties[Name]>;
} & {
  readonly [Name in keyof Properties as Name extends Required ? never : Name]?: DataOf<Properties[Name]>;
};

type TypedEvent<S extends Schema> = Omit<
  EventDefinition,
  'schema' | 'example' | 'naturalIds' | 'describe' | 'orderBy'
> & {
  readonly schema: S;
  readonly example: DataOf<S> & Schema;
  readonly naturalIds: (data: DataOf<S>) => NaturalIds;
  readonly describe?: (data: DataOf<S>) => EventResourceInit | null;
  readonly orderBy?: (data: DataOf<S>) => string | null;
};

/**
 * Gives an event its types, from its schema: `type Data = EventData<typeof thatEvent>`.
 *
 * @throws Error when the name is not of the form `module.what_happened`.
 */
export function defineEvent<const S extends Schema>(event: TypedEvent<S>): TypedEvent<S> {
  if (!/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/.test(event.name))
    throw new Error(`'${event.name}' is no name of an event; write it like 'chatbot.session_started'.`);
  return event;
}

/** The `data` of an event made with `defineEvent`. */
export type EventData<Event> = Event extends { readonly schema: infer S } ? DataOf<S> : never;
