import type { JsonSchema, RouteAnswer, RouteSecurity } from '#plugin-api';

/** Ways into what everybody may read as far as it is published, and some may read further. */
export const publicReading: readonly RouteSecurity[] = ['none', 'session', 'application_password'];

/** The answer to a post that was made. */
export const createdAnswer: Readonly<Record<number, RouteAnswer>> = {
  201: { description: 'Made.', headers: { Location: 'Its address.' } },
};

/** What is left of something that was deleted for good. */
export function deletedSchema(previous: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: { deleted: { type: 'boolean', required: true }, previous: { ...previous, required: true } },
  };
}
