import type { JsonSchema } from '#plugin-api';
import { compileSchema } from '../options/setting-schema.ts';

/**
 * The value of a flag as its schema's type.
 *
 * @throws Error that names the flag and what it takes.
 */
export async function readFlag({
  name,
  schema,
  value,
}: {
  name: string;
  schema: JsonSchema;
  value: string | boolean;
}): Promise<unknown> {
  if (typeof value === 'boolean') return value;
  const read = coerce(schema, value);
  if (read === undefined) throw new Error(`--${name} is '${value}'; it takes ${describe(schema)}.`);
  if (schema.enum && !schema.enum.includes(read))
    throw new Error(`--${name} is '${value}'; it takes one of ${schema.enum.join(', ')}.`);
  // Loaded for those that need it: most commands start without a validator.
  if (Object.keys(schema).some((keyword) => !plainKeywords.has(keyword)))
    (await compileSchema(`--${name}`, schema))(read);
  return read;
}

/** What is checked above, or says nothing of the value. */
const plainKeywords: ReadonlySet<string> = new Set(['type', 'enum', 'description', 'default', 'title', 'examples']);

function coerce(schema: JsonSchema, value: string): unknown {
  switch (schema.type) {
    case 'integer':
      return /^-?\d+$/.test(value) ? Number(value) : undefined;
    case 'number':
      return value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : undefined;
    case 'object':
    case 'array':
      return parseJson(value, schema.type);
    default:
      return value;
  }
}

function parseJson(value: string, type: 'object' | 'array'): unknown {
  try {
    const parsed: unknown = JSON.parse(value);
    const matches =
      type === 'array'
        ? Array.isArray(parsed)
        : typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return matches ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function describe(schema: JsonSchema): string {
  if (schema.type === 'integer') return 'a whole number';
  if (schema.type === 'number') return 'a number';
  return `a JSON ${String(schema.type)}`;
}
