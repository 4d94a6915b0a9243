/**
 * The type of the values that a schema describes: `type Limits = Infer<typeof limitsSchema>`. Write the schema `as const`.
 * It reads types and lists of types, `enum`, `const`, `anyOf`, `oneOf`, objects, maps and arrays.
 *
 * A member is always present if the object lists it as required, or if it has `required: true` or a `default`.
 * `json-schema-to-ts` reads more, but costs the compiler a minute for one schema with a few nested objects.
 */
export type Infer<S> = S extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : S extends { readonly const: infer Value }
    ? Value
    : S extends { readonly anyOf: readonly (infer Part)[] }
      ? Infer<Part>
      : S extends { readonly oneOf: readonly (infer Part)[] }
        ? Infer<Part>
        : S extends { readonly type: infer Type }
          ? Type extends readonly (infer One)[]
            ? OfType<One, S>
            : OfType<Type, S>
          : unknown;

/** The type of an object whose members the schemas describe, such as the parameters of a route with these `args`. */
export type InferMembers<Properties, Required = never> = {
  readonly [Name in keyof Properties as IsPresent<Properties, Name, Required> extends true ? Name : never]: Infer<
    Properties[Name]
  >;
} & {
  readonly [Name in keyof Properties as IsPresent<Properties, Name, Required> extends true ? never : Name]?: Infer<
    Properties[Name]
  >;
};

type IsPresent<Properties, Name extends keyof Properties, Required> = Name extends Required
  ? true
  : Properties[Name] extends { readonly required: true } | { readonly default: unknown }
    ? true
    : false;

type OfType<Type, S> = Type extends keyof Scalars
  ? Scalars[Type]
  : Type extends 'array'
    ? S extends { readonly items: infer Item }
      ? readonly Infer<Item>[]
      : readonly unknown[]
    : S extends { readonly properties: infer Properties }
      ? InferMembers<Properties, S extends { readonly required: readonly (infer Name)[] } ? Name : never>
      : S extends { readonly additionalProperties: infer Member extends object }
        ? Readonly<Record<string, Infer<Member>>>
        : Readonly<Record<string, unknown>>;

interface Scalars {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly null: null;
}
