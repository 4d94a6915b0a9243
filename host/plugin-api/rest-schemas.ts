import type { RouteArgument } from './rest.ts';
import type { JsonSchema } from './schema.ts';

/**
 * Bounds for arguments of routes, to spread into their schemas. Every string needs a `maxLength`, every list `maxItems` and
 * every integer `minimum` and `maximum`: then no value reaches the database or a provider that these cannot take.
 */
export const argumentBounds = {
  /** Id of a row, or 0 for none: an integer column of PostgreSQL. */
  id: { minimum: 0, maximum: 2_147_483_647 },
  /** For ids that the handler compares itself, so that one beyond every row is unknown instead of invalid. */
  anyInteger: { minimum: -Number.MAX_VALUE, maximum: Number.MAX_VALUE },
  /** What an integer column of PostgreSQL holds. */
  integer: { minimum: -2_147_483_648, maximum: 2_147_483_647 },
  /** Identifiers and states. Characters, as in all lengths. */
  key: { maxLength: 200 },
  /** One line: names, models, searches, slugs. Longer slugs are cut, as in WordPress, up to this length. */
  line: { maxLength: 1_000 },
  /** Titles and descriptions: as long as a text column of WordPress. */
  paragraph: { maxLength: 65_535 },
  /** Content and prompts: only the default limit of a body ends them. */
  document: { maxLength: 1_048_576 },
  /** A date with time, fraction and offset. */
  dateTime: { maxLength: 64 },
  uuid: { maxLength: 36 },
  /** Filters such as `include`: all of them together stay below the number of values that a query can have. */
  list: { maxItems: 1_000 },
} as const;

/** `page` and `per_page` of a paged collection, as in WordPress, to spread into the arguments of its route. */
export const pagingArguments = {
  page: {
    description: 'Current page of the collection.',
    type: 'integer',
    default: 1,
    ...argumentBounds.id,
    minimum: 1,
  },
  per_page: {
    description: 'Maximum number of items to be returned in result set.',
    type: 'integer',
    default: 10,
    minimum: 1,
    maximum: 100,
  },
} as const;

/** The argument that `RestRequest.requireFreshSignIn` reads, for routes that call it. */
export const currentPasswordArgument: RouteArgument = {
  type: 'string',
  maxLength: 1024,
  description:
    'Your current password. Required to change a password, an email address or roles, to create an application password, to delete ' +
    'a user, or to switch or delete a plugin, if you signed in more than 10 minutes ago.',
};

/** The contexts in which a member of a response of WordPress appears. */
const contexts = {
  everywhere: ['view', 'edit', 'embed'],
  shown: ['view', 'edit'],
  edit: ['edit'],
} as const;

/** `everywhere`: in every context. `shown`: not in `embed`. */
export type MemberContext = keyof typeof contexts;

type MembersIn<Members> = { readonly [Name in keyof Members]: Members[Name] & { readonly context: readonly string[] } };

/**
 * The schemas of members that appear in the same contexts, to spread into the properties of a response.
 *
 * @param where a name, or the contexts in an order of their own
 */
export function membersIn<const Members extends Readonly<Record<string, JsonSchema>>>(
  where: MemberContext | readonly string[],
  members: Members,
): MembersIn<Members> {
  return addToAll(members, { context: contextsOf(where) }) as MembersIn<Members>;
}

/** The same, of members that callers cannot set. */
export function readOnlyIn<const Members extends Readonly<Record<string, JsonSchema>>>(
  where: MemberContext | readonly string[],
  members: Members,
): MembersIn<Members> {
  return addToAll(members, { context: contextsOf(where), readOnly: true }) as MembersIn<Members>;
}

function contextsOf(where: MemberContext | readonly string[]): readonly string[] {
  return typeof where === 'string' ? contexts[where] : where;
}

function addToAll(members: Readonly<Record<string, JsonSchema>>, more: JsonSchema): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, { ...schema, ...more }]));
}

/** `context` of the routes of WordPress. */
export const contextArgument = {
  description: 'Scope under which the request is made; determines fields present in response.',
  type: 'string',
  enum: ['view', 'embed', 'edit'],
  default: 'view',
} as const;

/** A list of ids. */
export const idsArgument = {
  type: 'array',
  ...argumentBounds.list,
  items: { type: 'integer', ...argumentBounds.id },
} as const;

/** A date and time. */
export const momentArgument = { type: 'string', format: 'date-time', ...argumentBounds.dateTime } as const;

/** What the collections of WordPress have in common, to spread into the arguments of a route. */
export const collectionArguments = {
  context: contextArgument,
  ...pagingArguments,
  search: { description: 'Limit results to those matching a string.', type: 'string', ...argumentBounds.line },
  include: { ...idsArgument, description: 'Limit result set to specific IDs.' },
  exclude: { ...idsArgument, description: 'Ensure result set excludes specific IDs.' },
  offset: {
    description: 'Offset the result set by a specific number of items.',
    type: 'integer',
    ...argumentBounds.id,
  },
} as const;

/** `order` of a collection. */
export function orderArgument(initial: 'asc' | 'desc') {
  return {
    description: 'Order sort attribute ascending or descending.',
    type: 'string',
    default: initial,
    enum: ['asc', 'desc'],
  } as const;
}

/** A list of slugs. */
export const slugsArgument = {
  type: 'array',
  ...argumentBounds.list,
  items: { type: 'string', ...argumentBounds.line },
} as const;
