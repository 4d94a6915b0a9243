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
