import { isDeepStrictEqual } from 'node:util';
import { isRecord, type JsonSchema, type SecretsApi, type StoredSecret } from '#plugin-api';
import { decodeValue } from './option-values.ts';
import type { RegisteredSetting } from './settings.ts';

/** Encrypts the secrets of registered settings, those marked `writeOnly` at any depth of their schemas (D3). */
export interface SettingSecrets {
  /**
   * The value as it is stored: secrets encrypted and bound to the option and the member (D35).
   *
   * @param stored the text to replace: an unreadable secret of it that the value contains stays as it is.
   */
  encrypt(name: string, value: unknown, stored?: string): unknown;
  /** The value with its secrets in plain text. A secret that cannot be read stays encrypted. */
  decrypt(name: string, stored: unknown): unknown;
  /** Whether a setting has secrets. One that cannot be decrypted now may be later: the key file may be restored. */
  hasSecrets(name: string): boolean;
  /** Whether a stored text contains a secret in plain text: it was stored before the setting was registered. */
  hasPlain(name: string, text: string): boolean;
  /** A stored value with each encrypted secret replaced by what `change` returns. */
  rewrite(setting: RegisteredSetting, stored: unknown, change: (secret: StoredSecret) => string): unknown;
}

/** @param schemaOf undefined for options that are not registered. */
export function createSettingSecrets(
  schemaOf: (name: string) => JsonSchema | undefined,
  secrets: Pick<SecretsApi, 'encrypt' | 'decrypt'>,
): SettingSecrets {
  /** Most settings have no secrets: looked up once per schema. */
  const known = new WeakMap<JsonSchema, boolean>();
  function secretSchema(name: string): JsonSchema | null {
    const schema = schemaOf(name);
    if (schema === undefined) return null;
    if (!known.has(schema)) known.set(schema, hasSecrets(schema));
    return known.get(schema) === true ? schema : null;
  }

  function decryptOne(stored: unknown, context: string): unknown {
    const sealed = readSealed(stored);
    if (sealed === null) return stored;
    try {
      const plain = secrets.decrypt(sealed.encrypted, context);
      return sealed.isJson ? decodeValue(plain) : plain;
    } catch {
      return stored;
    }
  }

  return {
    encrypt(name, value, stored) {
      const schema = secretSchema(name);
      if (schema === null) return value;
      return mapSecrets(schema, value, (plain, path) => {
        if (isEmpty(plain)) return plain;
        if (readSealed(plain) !== null && stored?.includes(JSON.stringify(plain)) === true) return plain;
        const context = name + path;
        return typeof plain === 'string'
          ? secrets.encrypt(plain, context)
          : { json: secrets.encrypt(JSON.stringify(plain), context) };
      });
    },
    decrypt(name, stored) {
      const schema = secretSchema(name);
      return schema === null ? stored : mapSecrets(schema, stored, (value, path) => decryptOne(value, name + path));
    },
    hasSecrets: (name) => secretSchema(name) !== null,
    hasPlain(name, text) {
      const schema = secretSchema(name);
      if (schema === null) return false;
      let found = false;
      mapSecrets(schema, decodeValue(text), (value) => {
        found ||= !isEmpty(value) && readSealed(value) === null;
        return value;
      });
      return found;
    },
    rewrite({ name, label = name, schema }, stored, change) {
      return mapSecrets(schema, stored, (value, path) => {
        const sealed = readSealed(value);
        if (sealed === null) return value;
        const { encrypted, isJson } = sealed;
        const changed = change({ label: label + path, encrypted, context: name + path });
        return isJson ? { json: changed } : changed;
      });
    },
  };
}

/** The value of a setting for people and browsers: without its secrets, or with `mask` instead of each. */
export function hideSettingSecrets(schema: JsonSchema, value: unknown, mask?: string): unknown {
  return mapSecrets(schema, value, (secret) => (mask !== undefined && isEmpty(secret) ? secret : mask));
}

/** Whether two values of a setting differ in a secret. */
export function haveOtherSecrets(schema: JsonSchema, before: unknown, after: unknown): boolean {
  return !isDeepStrictEqual(secretsOf(schema, before), secretsOf(schema, after));
}

function secretsOf(schema: JsonSchema, value: unknown): readonly unknown[] {
  const found: unknown[] = [];
  mapSecrets(schema, value, (secret, path) => {
    if (!isEmpty(secret)) found.push([path, secret]);
    return secret;
  });
  return found;
}

/**
 * A value from a caller who cannot see secrets: those it lacks are taken from the saved value. Not in lists, whose items may
 * have moved, and not beside an address (`format: uri`) that differs (D35).
 */
export function keepSettingSecrets(schema: JsonSchema, given: unknown, saved: unknown): unknown {
  return keep([schema], given, saved);
}

function keep(schemas: readonly JsonSchema[], given: unknown, saved: unknown): unknown {
  if (!isRecord(given) || !isRecord(saved)) return given;
  const known = schemas.flatMap(alternatives);
  const isMoved = [...new Set([...Object.keys(given), ...Object.keys(saved)])].some(
    (member) =>
      membersOf(known, member).some(({ format }) => format === 'uri') &&
      !isDeepStrictEqual(given[member], saved[member]),
  );
  const members = new Map(Object.entries(given));
  for (const [member, value] of Object.entries(saved)) {
    const inner = membersOf(known, member);
    if (members.has(member)) members.set(member, keep(inner, members.get(member), value));
    else if (!isMoved && inner.flatMap(alternatives).some(isSecret)) members.set(member, value);
  }
  return Object.fromEntries(members);
}

/** @param change receives each secret and its path, such as `.account.key`; undefined removes it. */
function mapSecrets(schema: JsonSchema, value: unknown, change: (secret: unknown, path: string) => unknown): unknown {
  const map = (schemas: readonly JsonSchema[], inner: unknown, path: string): unknown => {
    const known = schemas.flatMap(alternatives);
    if (known.some(isSecret)) return change(inner, path);
    if (Array.isArray(inner)) {
      const items = known.flatMap((each) => each.items ?? []);
      return inner.map((item) => map(items, item, `${path}[]`)).filter((item) => item !== undefined);
    }
    if (!isRecord(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner)
        .map(([member, each]) => [member, map(membersOf(known, member), each, `${path}.${member}`)] as const)
        .filter(([, each]) => each !== undefined),
    );
  };
  return map([schema], value, '');
}

const isSecret = ({ writeOnly }: JsonSchema): boolean => writeOnly === true;

/** The schema and the ones it offers a choice of. */
function alternatives(schema: JsonSchema): JsonSchema[] {
  return [schema, ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(alternatives)];
}

/** The schemas of a member; as JSON Schema has it, `additionalProperties` is for members that no other part names. */
function membersOf(schemas: readonly JsonSchema[], member: string): JsonSchema[] {
  return schemas.flatMap(({ properties = {}, patternProperties = {}, additionalProperties }) => {
    const named = Object.hasOwn(properties, member) ? [properties[member] ?? {}] : [];
    const matched = Object.entries(patternProperties).flatMap(([pattern, schema]) =>
      new RegExp(pattern, 'u').test(member) ? [schema] : [],
    );
    if (named.length + matched.length > 0) return [...named, ...matched];
    return typeof additionalProperties === 'object' ? [additionalProperties] : [];
  });
}

function hasSecrets(schema: JsonSchema): boolean {
  const { properties = {}, patternProperties = {}, additionalProperties, items, anyOf = [], oneOf = [] } = schema;
  return (
    isSecret(schema) ||
    [
      ...Object.values(properties),
      ...Object.values(patternProperties),
      ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
      ...(items ? [items] : []),
      ...anyOf,
      ...oneOf,
    ].some(hasSecrets)
  );
}

/** Nothing to hide, and shown as it is. */
const isEmpty = (value: unknown): boolean => value === '' || value === null;

/** A text is stored as its encrypted text; any other value as `{json}` with its encrypted JSON text. */
function readSealed(stored: unknown): { readonly encrypted: string; readonly isJson: boolean } | null {
  if (isEncrypted(stored)) return { encrypted: stored, isJson: false };
  if (!isRecord(stored) || Object.keys(stored).length !== 1 || !isEncrypted(stored.json)) return null;
  return { encrypted: stored.json, isJson: true };
}

const isEncrypted = (value: unknown): value is string => typeof value === 'string' && /^enc:v[12]:/.test(value);
