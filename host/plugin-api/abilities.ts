import type { Infer } from './infer.ts';
import type { RestRequest } from './rest.ts';
import type { JsonSchema } from './schema.ts';
import type { Undo } from './undo.ts';
import type { User } from './users.ts';

/** What callers may expect of an ability. Null or absent: unknown. */
export interface AbilityAnnotations {
  /** It changes nothing. REST runs it with GET, and MCP clients may call it without asking. */
  readonly readonly?: boolean | null;
  /** It may delete or overwrite something. MCP clients ask before they call it. */
  readonly destructive?: boolean | null;
  /** A second call with the same input changes nothing more. REST runs it with DELETE if it is destructive too. */
  readonly idempotent?: boolean | null;
  readonly [name: string]: unknown;
}

export interface AbilityMeta {
  readonly annotations?: AbilityAnnotations;
  /** Whether REST and MCP offer it. Default `public`. */
  readonly show_in_rest?: boolean;
  /** Default false. */
  readonly public?: boolean;
  /** Any JSON values. */
  readonly [name: string]: unknown;
}

/** Who calls an ability. */
export interface AbilityCall {
  readonly user: User;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
  /** The request that it came with; undefined within the process and on the command line. */
  readonly request?: RestRequest | undefined;
  /** Slug of the plugin that ran it with `host.abilities.run`; undefined over REST and MCP and on the command line. */
  readonly plugin?: string | undefined;
}

/** Who calls abilities over REST or MCP. */
export interface AbilityCaller {
  readonly user: User;
  /** Whether the key of the caller allows an ability, besides what the user may do. Default: all. */
  allows?(ability: Ability): boolean;
  /**
   * For whom a read-only ability runs, and the resources and prompts of MCP that name it are read. Return the visitor (id 0) for
   * what the key does not name, so that it shows what everyone may see. Default: `user`.
   *
   * @param ability its name; null for resources and prompts that name none
   */
  userFor?(ability: string | null): User;
}

/** The input of an ability: undefined without a schema. */
export type AbilityInput<Schema> = Schema extends JsonSchema ? Infer<Schema> : undefined;

export interface AbilityDefinition<Schema extends JsonSchema | undefined = JsonSchema | undefined> {
  /** A few words for people: `Create draft`. */
  readonly label: string;
  /** What it does and when to use it, for people and for models that choose a tool. */
  readonly description: string;
  /** Slug of a registered category. */
  readonly category: string;
  /**
   * The input is validated and coerced by it, as arguments of routes are. Its `default` is used where the caller sends no input;
   * defaults of members are documentation. Without a schema, any input is refused.
   */
  readonly inputSchema?: Schema;
  /** The output is validated by it; a mismatch is an error of the ability. Default: any JSON value. */
  readonly outputSchema?: JsonSchema;
  /** Runs after validation. True allows; a RestError refuses with its code, under 401 or 403; anything else refuses. */
  permission(input: AbilityInput<Schema>, call: AbilityCall): unknown;
  /** Returns JSON, or returns or throws a RestError. Several nodes may run it at once. */
  execute(input: AbilityInput<Schema>, call: AbilityCall): unknown;
  readonly meta?: AbilityMeta;
}

/** A registered ability, as callers see it. */
export interface Ability {
  /** `namespace/name`. */
  readonly name: string;
  /** Slug of the plugin that registered it, or `host`. */
  readonly owner: string;
  readonly label: string;
  readonly description: string;
  readonly category: string;
  readonly inputSchema: JsonSchema | null;
  readonly outputSchema: JsonSchema | null;
  readonly meta: AbilityMeta & {
    readonly annotations: AbilityAnnotations;
    readonly show_in_rest: boolean;
    readonly public: boolean;
  };
}

export interface AbilityCategoryDefinition {
  readonly label: string;
  readonly description: string;
  /** Any JSON values. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface AbilityCategory extends AbilityCategoryDefinition {
  readonly slug: string;
  readonly meta: Readonly<Record<string, unknown>>;
}

/**
 * Abilities: named functions with schemas and permissions, which REST (`wp-abilities/v1`), MCP clients, the command line and
 * other plugins can find and run (D34). Register them in `register`, or in the actions `wp_abilities_api_categories_init` and
 * `wp_abilities_api_init`, which run when abilities are first needed.
 */
export interface AbilitiesApi {
  /**
   * @param name `namespace/name` of lower-case letters, digits and `-`.
   * @throws Error if the name is invalid or taken, or if the category is unknown.
   */
  register<const Schema extends JsonSchema | undefined = undefined>(
    name: string,
    definition: AbilityDefinition<Schema>,
  ): Undo;
  /** @param slug words of lower-case letters and digits, joined by `-`. @throws Error if it is invalid or taken. */
  registerCategory(slug: string, definition: AbilityCategoryDefinition): Undo;
  /** Hides an ability, or a category by its slug, until it is undone. Unknown names are hidden once they are registered. */
  unregister(name: string): Undo;
  /** Null: there is none. */
  get(name: string): Promise<Ability | null>;
  /** In order of registration. */
  list(): Promise<readonly Ability[]>;
  categories(): Promise<readonly AbilityCategory[]>;
  /**
   * Validates, checks the permission of the user, and runs it.
   *
   * @throws RestError 404 `rest_ability_not_found`, 400 `ability_invalid_input` or `ability_missing_input_schema`, 401 or 403
   *   `rest_ability_cannot_execute`, 500 `ability_invalid_output` or `ability_failed`, or an error of the ability.
   */
  run(
    name: string,
    input: unknown,
    call: Omit<AbilityCall, 'signal' | 'plugin'> & { readonly signal?: AbortSignal },
  ): Promise<unknown>;
}
