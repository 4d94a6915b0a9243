import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { OpenApiDocument, OpenApiObject } from '#plugin-api';

export interface Operation {
  readonly path: string;
  readonly method: string;
  readonly operation: OpenApiObject;
}

export function operationsOf({ paths }: OpenApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** A schema as validators take it: with the components it refers to in place. */
export function compile(document: OpenApiDocument, schema: unknown): (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  return ajv.compile({ ...(schema as object), components: document.components }) as (value: unknown) => boolean;
}

/**
 * Holds a document against the official meta schema of OpenAPI 3.1 and its schemas against that of JSON Schema 2020-12, and
 * against the rules that no schema says: every reference leads somewhere, operationIds are unique, and the parameters of a
 * path are those between its braces.
 */
export async function checkDocument(document: OpenApiDocument): Promise<void> {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  expect(errors ?? []).to.deep.equal([]);
  expect(valid).to.equal(true);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const { place, schema } of schemasIn(document))
    expect(ajv.validateSchema(schema as object), `${place}: ${ajv.errorsText(ajv.errors)}`).to.equal(true);
  for (const reference of referencesIn(document)) expect(lookUp(document, reference), reference).to.be.an('object');
  const ids = operationsOf(document).map(({ operation }) => operation['operationId']);
  expect(new Set(ids).size, 'unique operationIds').to.equal(ids.length);
  for (const { path, operation } of operationsOf(document)) {
    const inPath = ((operation['parameters'] ?? []) as OpenApiObject[])
      .filter((parameter) => parameter['in'] === 'path')
      .map(({ name }) => String(name));
    expect(inPath, path).to.have.members([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  }
}

export function lookUp(document: OpenApiDocument, reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((found, part) => (found as OpenApiObject | undefined)?.[part], document);
}

function* walk(value: unknown, place = ''): Generator<{ place: string; name: string; value: unknown }> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield { place, name, value: member };
    yield* walk(member, `${place}/${name}`);
  }
}

function schemasIn(document: OpenApiDocument): { place: string; schema: unknown }[] {
  const inPlace = [...walk(document)]
    .filter(({ name, value }) => name === 'schema' && typeof value === 'object')
    .map(({ place, value }) => ({ place, schema: value }));
  return [
    ...inPlace,
    ...Object.entries(document.components['schemas'] ?? {}).map(([place, schema]) => ({ place, schema })),
  ];
}

function referencesIn(document: OpenApiDocument): string[] {
  return [...walk(document)]
    .filter(({ name, value }) => name === '$ref' && typeof value === 'string')
    .map(({ value }) => String(value));
}
