import type { OpenApiObject } from '#plugin-api';

/** `minimum: 1, exclusiveMinimum: true` of draft 4 becomes `exclusiveMinimum: 1`; numbers stay. */
export function translateLimits(given: OpenApiObject): OpenApiObject {
  return {
    ...limit({ inclusive: 'minimum', exclusive: 'exclusiveMinimum' }, given),
    ...limit({ inclusive: 'maximum', exclusive: 'exclusiveMaximum' }, given),
  };
}

function limit(
  { inclusive, exclusive }: { readonly inclusive: string; readonly exclusive: string },
  given: OpenApiObject,
): OpenApiObject {
  const bound = given[inclusive];
  const strict = given[exclusive];
  if (strict === true && typeof bound === 'number') return { [exclusive]: bound };
  return {
    ...(typeof bound === 'number' && { [inclusive]: bound }),
    ...(typeof strict === 'number' && { [exclusive]: strict }),
  };
}
