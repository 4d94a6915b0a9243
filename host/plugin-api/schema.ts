/** JSON Schema type names. */
export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null';

/** A value that survives `JSON.stringify` and `JSON.parse` unchanged. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [member: string]: JsonValue };

/**
 * A JSON Schema as WordPress's REST interface reads it: draft 4, with `required: true` inside a property, and the formats
 * date-time, date, email, ip, uri, uuid, hex-color, text-field, textarea-field.
 * Write it `as const` to infer TypeScript types from it.
 */
export interface JsonSchema {
  readonly type?: JsonType | readonly JsonType[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean | number;
  readonly exclusiveMaximum?: boolean | number;
  readonly multipleOf?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  /** `true` inside a property (draft 3 and WordPress), or the list of required members (draft 4 and later). */
  readonly required?: boolean | readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly readOnly?: boolean;
  /** A secret: stored encrypted, never sent to a browser (D3). */
  readonly writeOnly?: boolean;
  readonly context?: readonly string[];
}
