/** JSON Schema type names. */
export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null';

/** A value that survives `JSON.stringify` and `JSON.parse` unchanged. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { [member: string]: JsonValue };

/** How a form shows a member, where its type, title, description and examples do not say it. */
export interface UiHints {
  /** `color`: `#rrggbb` or empty. Default: what type and format say. */
  readonly widget?: 'color' | 'textarea' | 'text';
  /** Lines of the text area. */
  readonly rows?: number;
  /** For code and names: all characters have the same width. */
  readonly mono?: boolean;
  /** A narrow input. */
  readonly short?: boolean;
  /** Default: the first of `examples`. */
  readonly placeholder?: string;
  /** Id of a `datalist` on the page. */
  readonly list?: string;
  /** Labels of choices, by value. Default: the titles of `oneOf`, or the value as words. */
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * A JSON Schema as WordPress's REST interface reads it: draft 4, with `required: true` inside a property, and the formats
 * date-time, date, email, ip, uri, uuid, hex-color, text-field, textarea-field.
 * Write it `as const` to infer TypeScript types from it (`Infer`). Forms, checks and error sentences read it too.
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
  /** A secret, at any depth: stored encrypted, never sent to a browser (D3). */
  readonly writeOnly?: boolean;
  readonly context?: readonly string[];
  /** Members that OpenAPI has in addition, of a value that the handler checks itself. They validate nothing. */
  readonly openApi?: JsonSchema;
  /** For forms; never shown to callers of a route. */
  readonly ui?: UiHints;
  /** What an error says if `pattern` does not match: `must be a color such as #1d4ed8`. */
  readonly rule?: string;
  /** The member whose value selects one of `oneOf`. */
  readonly discriminator?: { readonly propertyName: string };
}
