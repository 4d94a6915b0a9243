import { checkValue, RestError, type JsonSchema } from '#plugin-api';

/** Returns the value coerced to the schema's types, or throws RestError 400 `rest_invalid_param` (D4). */
export type CheckValue = (value: unknown) => unknown;

/**
 * A check of values by a schema, compiled when it is first used. Strings from forms and command lines are coerced to the
 * schema's type (`"12"` to 12).
 *
 * @param name name of the value in messages.
 */
export function compileSchema(name: string, schema: JsonSchema): Promise<CheckValue> {
  return Promise.resolve((given) => {
    const { value, errors } = checkValue(schema, given, { coerce: true, path: name });
    const sentence = Object.values(errors).join(' ');
    if (sentence === '') return value;
    throw new RestError({
      code: 'rest_invalid_param',
      status: 400,
      message: `Invalid parameter(s): ${name}. ${sentence}`,
      data: {
        params: { [name]: sentence },
        details: { [name]: { code: 'rest_invalid_param', message: sentence, data: null } },
        errors,
      },
    });
  });
}
