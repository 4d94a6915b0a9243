import type { ErrorObject, ValidateFunction } from 'ajv';
import { type JsonSchema, RestError } from '#plugin-api';

/** Returns the value coerced to the schema's types, or throws RestError 400 `rest_invalid_param` (D4). */
export type CheckValue = (value: unknown) => unknown;

type Plain = Record<string, unknown>;

/**
 * Compiles a schema. Strings from forms and command lines are coerced to the schema's type (`"12"` to 12).
 *
 * @param name name of the value in messages.
 */
export async function compileSchema(name: string, schema: JsonSchema): Promise<CheckValue> {
  const [{ Ajv }, { default: formats }] = await Promise.all([import('ajv'), import('ajv-formats')]);
  const ajv = new Ajv({ coerceTypes: true, allErrors: true, strict: false });
  (formats as unknown as (target: typeof ajv) => void)(ajv);
  for (const [format, check] of Object.entries(ownFormats)) ajv.addFormat(format, check);
  // Coercion needs a member to write to, so the value is wrapped.
  const validate = ajv.compile({ type: 'object', required: ['value'], properties: { value: toCurrentDraft(schema) } });
  return (value) => check(name, validate, value);
}

/** WordPress's formats that ajv lacks. Text fields accept any text: filters sanitize them. */
const ownFormats: Readonly<Record<string, RegExp | true>> = {
  ip: /^(\d{1,3}(\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]+)$/,
  'hex-color': /^#([0-9a-fA-F]{3}){1,2}$/,
  'text-field': true,
  'textarea-field': true,
};

function check(name: string, validate: ValidateFunction, value: unknown): unknown {
  const wrapper = { value: structuredClone(value) };
  if (validate(wrapper)) return wrapper.value;
  const sentence = (validate.errors ?? []).map((error) => describe(name, error)).join(' ');
  throw new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: `Invalid parameter(s): ${name}. ${sentence}`,
    data: {
      params: { [name]: sentence },
      details: { [name]: { code: 'rest_invalid_param', message: sentence, data: null } },
    },
  });
}

function describe(name: string, { instancePath, message, keyword, params }: ErrorObject): string {
  const path = instancePath.split('/').slice(2).join('.');
  const subject = path === '' ? name : `${name}.${path}`;
  if (keyword === 'enum')
    return `${subject} must be one of ${(params['allowedValues'] as unknown[]).map(String).join(', ')}.`;
  if (keyword === 'additionalProperties')
    return `${subject} must not have the member '${String(params['additionalProperty'])}'.`;
  return `${subject} ${message ?? 'is not valid'}.`;
}

/** Schemas as WordPress writes them (`required: true` in a member, boolean exclusive bounds) converted to the draft that ajv reads. */
function toCurrentDraft(schema: JsonSchema): Plain {
  const { required, exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  const plain: Plain = { ...rest };
  if (Array.isArray(required)) plain['required'] = required;
  setBound(plain, 'minimum', exclusiveMinimum);
  setBound(plain, 'maximum', exclusiveMaximum);
  const members = Object.entries(schema.properties ?? {});
  if (schema.properties) {
    plain['properties'] = mapSchemas(schema.properties);
    const named = members.filter(([, member]) => member.required === true).map(([member]) => member);
    if (named.length > 0) plain['required'] = [...(Array.isArray(required) ? required : []), ...named];
  }
  if (schema.patternProperties) plain['patternProperties'] = mapSchemas(schema.patternProperties);
  if (typeof schema.additionalProperties === 'object')
    plain['additionalProperties'] = toCurrentDraft(schema.additionalProperties);
  if (schema.items) plain['items'] = toCurrentDraft(schema.items);
  if (schema.anyOf) plain['anyOf'] = schema.anyOf.map(toCurrentDraft);
  if (schema.oneOf) plain['oneOf'] = schema.oneOf.map(toCurrentDraft);
  return plain;
}

function setBound(plain: Plain, bound: 'minimum' | 'maximum', exclusive: boolean | number | undefined): void {
  const name = bound === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum';
  if (typeof exclusive === 'number') plain[name] = exclusive;
  if (exclusive !== true || plain[bound] === undefined) return;
  plain[name] = plain[bound];
  Reflect.deleteProperty(plain, bound);
}

function mapSchemas(schemas: Readonly<Record<string, JsonSchema>>): Plain {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toCurrentDraft(schema)]));
}
