import { checkValue, isRecord, type JsonSchema } from '#plugin-api';

/**
 * Converts the value of a flag to the type of its schema.
 *
 * @throws Error that names the flag and the expected type or the choices.
 */
export function readFlag({
  name,
  schema,
  value,
}: {
  name: string;
  schema: JsonSchema;
  value: string | boolean;
}): unknown {
  if (typeof value === 'boolean') return value;
  const read = coerce(schema, value);
  if (read === undefined) throw new Error(`--${name} is '${value}'; it must be ${describeType(schema)}.`);
  if (schema.enum && !schema.enum.includes(read))
    throw new Error(`--${name} is '${value}'; it must be one of ${schema.enum.join(', ')}.`);
  // Compiled only when needed: most flags have a type alone.
  const errors = Object.keys(schema).some((keyword) => !plainKeywords.has(keyword))
    ? Object.values(checkValue(schema, read, { path: `--${name}` }).errors)
    : [];
  if (errors.length > 0) throw new Error(errors.join(' '));
  return read;
}

/** Keywords that are checked above or do not restrict the value. */
const plainKeywords: ReadonlySet<string> = new Set([
  'type',
  'enum',
  'description',
  'default',
  'title',
  'examples',
  'writeOnly',
]);

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
    const matches = type === 'array' ? Array.isArray(parsed) : isRecord(parsed);
    return matches ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function describeType(schema: JsonSchema): string {
  if (schema.type === 'integer') return 'a whole number';
  if (schema.type === 'number') return 'a number';
  return `a JSON ${String(schema.type)}`;
}

export function isSwitch(schema: JsonSchema): boolean {
  return schema.type === 'boolean';
}

/** The lines of a flag in the help: what it is for, its choices and its default. A description may state the default itself. */
export function describeFlag({ description = '', enum: choices, default: standard }: JsonSchema): string {
  const isShown = standard !== undefined && standard !== false && !/\bdefault\b/i.test(description);
  const lines = [
    description,
    choices === undefined ? '' : `Choices: ${choices.join(', ')}.`,
    isShown ? `Default: ${typeof standard === 'string' ? standard : JSON.stringify(standard)}.` : '',
  ];
  return lines.filter((line) => line !== '').join('\n');
}
