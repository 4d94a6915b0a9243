import type { OpenApiObject, RouteArgument, RouteDefinition } from '#plugin-api';
import { parameterSchema } from './path-template.ts';
import type { PathParameter, PathTemplate } from './path-template.ts';
import { requiredNames, translateSchema } from './schema.ts';

type Arguments = NonNullable<RouteDefinition['args']>;

/** Parameters of the path, described by the route's arguments of the same name. */
export function pathParameters({ parameters }: PathTemplate, args: Arguments): OpenApiObject[] {
  return parameters.map((parameter) => {
    const argument = args[argumentName(parameter)];
    return {
      name: parameter.name,
      in: 'path',
      required: true,
      ...described(argument, pathSchema(parameter, argument)),
    };
  });
}

export function argumentName({ name, argument }: PathParameter): string {
  return argument ?? name;
}

/** The argument's schema applies; without a type, the pattern's. */
function pathSchema(parameter: PathParameter, argument: RouteArgument | undefined): OpenApiObject {
  const fromPattern = parameterSchema(parameter);
  if (argument === undefined) return fromPattern;
  const { default: _default, ...schema } = translateSchema(argument);
  return schema['type'] === undefined || schema['type'] === 'string' ? { ...fromPattern, ...schema } : schema;
}

/** Arguments of a route without a body. */
export function queryParameters(args: Arguments): OpenApiObject[] {
  return Object.entries(args).map(([name, argument]) => {
    const schema = translateSchema(argument);
    const written = notation(schema);
    return {
      name: written.isList ? `${name}[]` : name,
      in: 'query',
      ...(isRequired(argument) && { required: true }),
      ...written.style,
      ...described(argument, schema),
    };
  });
}

interface Notation {
  readonly style: OpenApiObject;
  readonly isList: boolean;
}

/** Objects as `a[b]=1`; lists as `a=1,2`, or as `a[]=x&a[]=y` if items may contain commas. */
function notation(schema: OpenApiObject): Notation {
  if (schema['type'] === 'object') return { style: { style: 'deepObject', explode: true }, isList: false };
  if (schema['type'] !== 'array') return { style: {}, isList: false };
  const items = (schema['items'] ?? {}) as OpenApiObject;
  const isFree =
    items['type'] === undefined ||
    items['type'] === 'object' ||
    (items['type'] === 'string' && items['enum'] === undefined && items['format'] !== 'uuid');
  return { style: { style: 'form', explode: isFree }, isList: isFree };
}

interface BodyInit {
  /** Bytes. */
  readonly bodyLimit: number;
  /** Content types that the handler reads itself. */
  readonly consumes?: readonly string[] | undefined;
}

/** The JSON body with all arguments, or null when there are none. */
export function requestBody(args: Arguments, { bodyLimit, consumes = [] }: BodyInit): OpenApiObject | null {
  if (Object.keys(args).length === 0 && consumes.length === 0) return null;
  const required = requiredNames(
    Object.fromEntries(Object.entries(args).filter(([, argument]) => isRequired(argument))),
  );
  const properties = Object.fromEntries(
    Object.entries(args).map(([name, argument]) => [name, translateSchema(argument)]),
  );
  const schema = { type: 'object', properties, ...(required.length > 0 && { required: required }) };
  return {
    description: `At most ${bodyLimit.toLocaleString('en')} bytes.`,
    ...((required.length > 0 || consumes.length > 0) && { required: true }),
    content:
      consumes.length === 0
        ? { 'application/json': { schema } }
        : Object.fromEntries(consumes.map((type) => [type, { schema: otherBody(type, schema) }])),
  };
}

/** A form contains the arguments and a file. Any other body is the file itself, without a schema. */
function otherBody(type: string, schema: OpenApiObject & { readonly properties: OpenApiObject }): OpenApiObject {
  if (type !== 'multipart/form-data') return {};
  return {
    ...schema,
    properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' }, ...schema.properties },
  };
}

/** An argument with a default may be left out. */
function isRequired({ required, default: value }: RouteArgument): boolean {
  return required === true && (value === undefined || value === null);
}

/** Moves the description from the schema to the parameter. */
function described(argument: RouteArgument | undefined, schema: OpenApiObject): OpenApiObject {
  const { description: _description, deprecated, ...rest } = schema;
  return {
    ...(argument?.description !== undefined && { description: argument.description }),
    ...(deprecated === true && { deprecated }),
    schema: rest,
  };
}
