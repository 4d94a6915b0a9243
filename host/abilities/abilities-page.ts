import {
  errorText,
  RestError,
  restError,
  type Ability,
  type AbilitiesApi,
  type AdminPageBody,
  type AdminView,
  type JsonSchema,
} from '#plugin-api';

export interface AbilitiesPageDependencies {
  readonly abilities: Pick<AbilitiesApi, 'list' | 'get' | 'categories' | 'run'>;
  /** The members of a schema, for the partial `admin/pages/rest-fields`. */
  readonly fieldsOf: (schema: JsonSchema) => readonly unknown[];
  /** A plausible value. */
  readonly exampleOf: (schema: JsonSchema) => unknown;
}

/** What a run shows. */
interface Outcome {
  /** The JSON as it was typed. */
  readonly input: string;
  readonly error?: { readonly code: string; readonly status: number; readonly message: string };
  readonly output?: string;
  readonly isCut?: boolean;
}

/** Characters of an output that the page shows. */
const mostShown = 50_000;

/** All abilities of this process by category; each can be run as the user who is signed in (D34). */
export function createAbilitiesPage({ abilities, fieldsOf, exampleOf }: AbilitiesPageDependencies): AdminPageBody {
  const showOne = (ability: Ability, outcome?: Outcome): AdminView => ({
    template: 'admin/pages/ability',
    title: ability.label,
    trail: [{ title: 'Abilities', href: 'abilities' }],
    data: {
      ...ability,
      isPublic: ability.meta.show_in_rest,
      badges: badgesOf(ability),
      inputFields: ability.inputSchema && fieldsOf(ability.inputSchema),
      outputFields: ability.outputSchema && fieldsOf(ability.outputSchema),
      mayDestroy: mayDestroy(ability),
      ...outcome,
      input: outcome?.input ?? (ability.inputSchema ? format(inputExample(ability.inputSchema, exampleOf)) : ''),
    },
  });

  return {
    async render({ query }) {
      const name = readText(query, 'name');
      if (name !== '') return showOne(await requireAbility(abilities, name));
      const search = readText(query, 's');
      const found = (await abilities.list()).filter((ability) => matches(ability, search));
      const groups = (await abilities.categories()).map(({ slug, label, description }) => ({
        ...{ slug, label, description },
        abilities: found
          .filter(({ category }) => category === slug)
          .map((ability) => ({
            ...ability,
            badges: badgesOf(ability),
            href: `?${new URLSearchParams({ name: ability.name }).toString()}`,
          })),
      }));
      return {
        template: 'admin/pages/abilities',
        data: { search, count: found.length, groups: groups.filter((group) => group.abilities.length > 0) },
      };
    },
    actions: {
      async run(request) {
        const ability = await requireAbility(abilities, readText(request.form, 'name'));
        if (mayDestroy(ability)) request.requireFreshSignIn();
        const typed = request.form['input'];
        const input = typeof typed === 'string' ? typed : '';
        const outcome = await outcomeOf(() => {
          const { user, signal } = request;
          return abilities.run(ability.name, parseInput(input), { user, signal });
        });
        return { page: showOne(ability, { input, ...outcome }) };
      },
    },
  };
}

async function outcomeOf(run: () => Promise<unknown>): Promise<Omit<Outcome, 'input'>> {
  try {
    const output = format(await run());
    return { output: output.slice(0, mostShown), isCut: output.length > mostShown };
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    const { code, status, message } = error;
    return { error: { code, status, message } };
  }
}

/** @throws RestError 400 */
function parseInput(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw restError(400, 'rest_invalid_json', `The input is not JSON: ${errorText(error)}`);
  }
}

async function requireAbility(abilities: Pick<AbilitiesApi, 'get'>, name: string): Promise<Ability> {
  const ability = await abilities.get(name);
  if (ability) return ability;
  throw restError(404, 'rest_ability_not_found', 'No active plugin has this ability. Choose one from the list.');
}

function readText(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value.trim() : '';
}

function matches({ name, label, description, owner }: Ability, search: string): boolean {
  return [name, label, description, owner].join(' ').toLowerCase().includes(search.toLowerCase());
}

/** Clients ask before they run such an ability, and keys need it in their scope. */
function mayDestroy({ meta: { annotations } }: Ability): boolean {
  return annotations.destructive !== false && annotations.readonly !== true;
}

function badgesOf(ability: Ability) {
  const { annotations, show_in_rest: isPublic } = ability.meta;
  return [
    ...(annotations.readonly === true ? [{ text: 'Read-only', kind: 'success' }] : []),
    ...(mayDestroy(ability) ? [{ text: 'May delete or overwrite', kind: 'warning' }] : []),
    ...(isPublic ? [] : [{ text: 'Not over REST and MCP' }]),
  ];
}

function format(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? '';
}

/** A value to begin with: the default of the schema, or its required members only. */
function inputExample(schema: JsonSchema, exampleOf: AbilitiesPageDependencies['exampleOf']): unknown {
  const { properties, required } = schema;
  if (schema.default !== undefined || properties === undefined) return exampleOf(schema);
  const names: readonly string[] = Array.isArray(required) ? required : [];
  return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name] ?? {})]));
}
