import { asRecord, isNear, isRecord, type JsonSchema } from '#plugin-api';
import { findSchemaError } from './rest/schema/validate.ts';
import { schemaKeywords, shapes, type Kind, type Shape } from './definitions.ts';

/** What a value is checked for, and what the sentence about it says. */
const kinds: Readonly<
  Record<Exclude<Kind, 'any'>, { readonly accepts: (value: unknown) => boolean; readonly name: string }>
> = {
  text: { accepts: (value) => typeof value === 'string', name: 'a text' },
  number: { accepts: (value) => typeof value === 'number', name: 'a number' },
  switch: { accepts: (value) => typeof value === 'boolean', name: 'true or false' },
  list: { accepts: Array.isArray, name: 'an array' },
  object: { accepts: isRecord, name: 'an object' },
  function: { accepts: (value) => typeof value === 'function', name: 'a function' },
  schema: { accepts: isRecord, name: 'a JSON Schema' },
  schemas: { accepts: isRecord, name: 'an object of JSON Schemas' },
  functions: { accepts: isRecord, name: 'an object of functions' },
};

const types: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

/**
 * Checks what a plugin registers: members that are missing or of another kind, names with a typing error, schemas that no value
 * can be checked by, and defaults that their own schema refuses. It never throws: what a registration accepts is registered, so
 * that an update of the host stops no plugin, and what was found are warnings of the plugin. Where the registration itself ends
 * with an error of the engine, such as `Cannot read properties of undefined`, what was found becomes the message of that error.
 *
 * @param method name of the method of the host, such as `registerRoute`.
 * @returns sentences that name the call, the member and what to write; empty if all is well.
 */
export function checkDefinition(method: string, args: readonly unknown[]): readonly string[] {
  const shape = Object.hasOwn(shapes, method) ? shapes[method] : undefined;
  if (shape === undefined) return [];
  const sentences: string[] = [];
  const target = { call: describeCall(shape, args), report: (sentence: string) => void sentences.push(sentence) };
  const given = args[shape.argument];
  for (const definition of method === 'registerRoute' && Array.isArray(given) ? given : [given])
    checkOne(target, shape, definition);
  return sentences;
}

interface Target {
  /** Such as `host.admin.addPage('shop')`. */
  readonly call: string;
  readonly report: (sentence: string) => void;
}

function checkOne({ call, report }: Target, { members, argument, oneOf = [] }: Shape, definition: unknown): void {
  const { accepts, name: expected } = kinds[members === null ? 'function' : 'object'];
  if (!accepts(definition)) return report(`In ${call}, argument ${argument + 1} must be ${expected}.`);
  if (members === null) return;
  const given = definition as object;
  for (const [name, member] of Object.entries(members)) checkMember({ call, report }, member, { given, name });
  if (oneOf.length > 0 && !oneOf.some((name) => read(given, name) !== undefined))
    report(`In ${call}, '${oneOf.join("' or '")}' is missing. It must be ${kinds.function.name}.`);
  const schema = read(given, 'schema');
  if (isRecord(schema) && 'default' in members)
    checkDefault({ call, report }, schema as JsonSchema, { path: 'default', value: read(given, 'default') });
  reportNear({ call, report }, given, { known: Object.keys(members), prefix: '' });
}

function checkMember(
  { call, report }: Target,
  member: NonNullable<Shape['members']>[string],
  { given, name }: { readonly given: object; readonly name: string },
): void {
  const kind = (typeof member === 'string' ? member.replace('!', '') : 'list') as Kind;
  const value = read(given, name);
  if (value === deferred || kind === 'any') return;
  const { accepts, name: expected } = kinds[kind];
  if (value === undefined) {
    if (typeof member === 'string' && member.endsWith('!'))
      report(`In ${call}, '${name}' is missing. It must be ${expected}.`);
  } else if (!accepts(value)) report(`In ${call}, '${name}' must be ${expected}.`);
  else if (kind === 'schema') checkSchema({ call, report }, value, { path: name, seen: new Set() });
  else if (kind === 'schemas' || kind === 'functions')
    for (const [key, each] of Object.entries(value as object)) {
      const path = `${name}.${key}`;
      if (kind === 'schemas') checkSchema({ call, report }, each, { path, seen: new Set() });
      else if (typeof each !== 'function') report(`In ${call}, '${path}' must be ${kinds.function.name}.`);
    }
  if (typeof member !== 'string' && Array.isArray(value))
    for (const each of value.filter((item) => !member.includes(item as string)))
      report(`In ${call}, '${name}' has the unknown item '${String(each)}'. Known are: ${member.join(', ')}.`);
}

/** Schemas of other drafts have more keywords, which are left alone. */
function checkSchema(
  { call, report }: Target,
  schema: unknown,
  { path, seen }: { readonly path: string; readonly seen: Set<unknown> },
): void {
  if (seen.has(schema) || typeof schema === 'boolean') return;
  seen.add(schema);
  if (!isRecord(schema)) return report(`In ${call}, '${path}' must be ${kinds.schema.name}.`);
  const given = schema as JsonSchema & Readonly<Record<string, unknown>>;
  const wrong = [read(given, 'type')]
    .flat()
    .find((each) => each !== undefined && each !== deferred && !types.includes(each));
  if (wrong !== undefined)
    report(`In ${call}, '${path}' has the unknown type '${String(wrong)}'. Types are: ${types.join(', ')}.`);
  reportNear({ call, report }, given, { known: schemaKeywords, prefix: `${path}.` });
  if (wrong === undefined)
    checkDefault({ call, report }, given, { path: `${path}.default`, value: read(given, 'default') });
  for (const group of ['properties', 'patternProperties'] as const)
    for (const [name, each] of Object.entries(asRecord(read(given, group))))
      checkSchema({ call, report }, each, { path: `${path}.${group}.${name}`, seen });
  for (const group of ['items', 'additionalProperties', 'anyOf', 'oneOf'] as const)
    for (const part of [read(given, group)].flat())
      if (isRecord(part)) checkSchema({ call, report }, part, { path: `${path}.${group}`, seen });
}

/** Null means that there is no default. */
function checkDefault(
  { call, report }: Target,
  schema: JsonSchema,
  { path, value }: { readonly path: string; readonly value: unknown },
): void {
  if (value === undefined || value === null || value === deferred) return;
  let message: string | undefined;
  try {
    message = findSchemaError(value, schema, 'default')?.message;
  } catch {
    // A schema that cannot be read has its own sentence.
    return;
  }
  if (message !== undefined) report(`In ${call}, '${path}' does not fit its schema: ${message}`);
}

function reportNear(
  { call, report }: Target,
  given: object,
  { known, prefix }: { readonly known: readonly string[]; readonly prefix: string },
): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const path = prefix + name;
    const near = known.find((each) => each.toLowerCase() === name.toLowerCase() || isNear(each, name, 4));
    // With the right one beside it, the other one has another reader.
    if (near !== undefined && !Object.hasOwn(given, near))
      report(`In ${call}, '${path}' has no effect. Did you mean '${near}'?`);
  }
}

const deferred = Symbol('not read');

/** What a getter returns is made when it is first needed, and not for this check. */
function read(given: object, name: string): unknown {
  if (Object.getOwnPropertyDescriptor(given, name)?.get !== undefined) return deferred;
  return (given as Readonly<Record<string, unknown>>)[name];
}

/** `host.rest.registerRoute('shop/v1','/items')`: with the names among the arguments, and that of the definition. */
function describeCall({ call, argument }: Shape, args: readonly unknown[]): string {
  const { slug, name, id, path } = asRecord(args[argument]);
  const names = [...args.slice(0, argument), slug ?? name ?? id ?? path]
    .filter((each) => typeof each === 'string' || Array.isArray(each))
    .map((each) => `'${String(each)}'`);
  // Without a space: what is in quotes after a comma is a member to the translation.
  return `host.${call}(${names.join(',')})`;
}
