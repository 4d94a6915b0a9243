import type {
  AbilitiesApi,
  Ability,
  AbilityCategory,
  AbilityCategoryDefinition,
  AbilityDefinition,
  HooksApi,
  JsonSchema,
  Logger,
  Undo,
} from '#plugin-api';
import { createRunAbility, type RunAbility, type ValueSchema } from './run-ability.ts';

declare module '#plugin-api' {
  interface ActionMap {
    /** Register categories of abilities here. Runs when abilities are first needed, and when plugins have started or stopped. */
    wp_abilities_api_categories_init: () => void;
    /** Register abilities here. Runs after `wp_abilities_api_categories_init`. */
    wp_abilities_api_init: () => void;
    /** Before an ability runs, after its input and the permission of the caller were checked. */
    wp_before_execute_ability: (name: string, input: unknown) => void;
    /** After an ability ran and its output was checked. */
    wp_after_execute_ability: (name: string, input: unknown, output: unknown) => void;
  }
  interface SyncFilterMap {
    /** Changes the definition of an ability that is being registered. */
    wp_register_ability_args: (definition: AbilityDefinition, name: string) => AbilityDefinition;
  }
}

/** An ability that failed unexpectedly. */
export interface AbilityFailure {
  readonly name: string;
  /** Slug of its plugin, or `host`. */
  readonly owner: string;
  readonly error: unknown;
}

/** An ability with its functions. */
export interface RegisteredAbility extends Ability {
  readonly permission: AbilityDefinition['permission'];
  readonly execute: AbilityDefinition['execute'];
}

/** The abilities of a process. All nodes register the same ones. */
export interface Abilities extends AbilitiesApi, RunAbility {
  forOwner(owner: string): AbilitiesApi;
  /** As `get`, with the functions. */
  find(name: string): Promise<RegisteredAbility | null>;
  /** Those that REST and MCP offer. */
  listPublic(): Promise<readonly Ability[]>;
  /** Loads the host's own abilities when abilities are first needed. */
  addSource(load: () => Promise<void>): void;
  /** Calls the listener for each unexpected error of an ability, after it is logged. */
  onFailure(listener: (failure: AbilityFailure) => void): Undo;
}

export interface AbilitiesDependencies {
  readonly hooks: Pick<HooksApi, 'applyFilters' | 'doActionAsync' | 'owners'>;
  readonly log: Logger;
  readonly schema: ValueSchema;
}

const initActions = ['wp_abilities_api_categories_init', 'wp_abilities_api_init'] as const;

export function createAbilities({ hooks, log, schema }: AbilitiesDependencies): Abilities {
  const listeners = new Set<(failure: AbilityFailure) => void>();
  const registry = createRegistry(hooks);
  const { ready } = createInit(hooks, registry.undoInit);
  const find = async (name: string): Promise<RegisteredAbility | null> => {
    await ready.run();
    return registry.find(name);
  };
  const list = async (): Promise<readonly Ability[]> => {
    await ready.run();
    return registry.list();
  };
  const runAbility = createRunAbility({
    hooks,
    log,
    schema,
    find,
    onFailure: (failure) => {
      for (const listener of listeners) listener(failure);
    },
  });
  const forOwner = (owner: string): AbilitiesApi => ({
    register: (name, definition) =>
      registry.remember(registry.add(owner, name, definition as unknown as AbilityDefinition), ready.isRunning()),
    registerCategory: (slug, definition) =>
      registry.remember(registry.addCategory(slug, definition), ready.isRunning()),
    unregister: (name) => registry.remember(registry.hide(name), ready.isRunning()),
    get: find,
    list,
    async categories() {
      await ready.run();
      return registry.categories();
    },
    run: runAbility.runAs(owner === 'host' ? undefined : owner),
  });
  return {
    ...forOwner('host'),
    ...runAbility,
    forOwner,
    find,
    listPublic: async () => (await list()).filter(({ meta }) => meta.show_in_rest),
    addSource: ready.addSource,
    onFailure(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/**
 * Runs the init actions once, and again after other plugins have callbacks: what the former run registered is undone first, so
 * that each plugin can register its own then.
 */
function createInit(hooks: AbilitiesDependencies['hooks'], undoInit: () => void) {
  const sources: (() => Promise<void>)[] = [];
  let ran: string | null = null;
  let running: Promise<void> | null = null;
  let isRunning = false;
  const init = async (owners: string): Promise<void> => {
    for (let load = sources.shift(); load; load = sources.shift()) await load();
    undoInit();
    isRunning = true;
    try {
      for (const action of initActions) await hooks.doActionAsync(action);
      ran = owners;
    } finally {
      isRunning = false;
    }
  };
  return {
    ready: {
      isRunning: () => isRunning,
      addSource: (load: () => Promise<void>): void => void sources.push(load),
      async run(): Promise<void> {
        // A callback of the actions that reads abilities sees those registered so far.
        if (isRunning) return;
        const owners = initActions.map((action) => hooks.owners(action).join()).join(';');
        if (owners === ran && sources.length === 0) return;
        running ??= init(owners).finally(() => (running = null));
        await running;
      },
    },
  };
}

/** Names and definitions, without the order of starts. */
function createRegistry(hooks: Pick<HooksApi, 'applyFilters'>) {
  const abilities = new Map<string, RegisteredAbility>();
  const categories = new Map<string, AbilityCategory>();
  const hidden = new Map<string, number>();
  const ofInit = new Set<Undo>();
  const isShown = (name: string): boolean => (hidden.get(name) ?? 0) === 0;
  return {
    add(owner: string, name: string, given: AbilityDefinition): Undo {
      checkName(name);
      if (abilities.has(name)) throw new Error(`There is already an ability '${name}'. Choose another name.`);
      const definition = hooks.applyFilters('wp_register_ability_args', given, name);
      checkDefinition(name, definition, categories);
      const ability = toAbility(owner, name, definition);
      abilities.set(name, ability);
      return () => void (abilities.get(name) === ability && abilities.delete(name));
    },
    addCategory(slug: string, { label, description, meta = {} }: AbilityCategoryDefinition): Undo {
      if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(slug))
        throw new Error(`The category '${slug}' is not valid. Use lower-case letters and digits, joined by '-'.`);
      if (categories.has(slug))
        throw new Error(`There is already a category '${slug}' of abilities. Use it, or another slug.`);
      checkTexts(`The category '${slug}'`, { label, description });
      const category = { slug, label, description, meta };
      categories.set(slug, category);
      return () => void (categories.get(slug) === category && categories.delete(slug));
    },
    hide(name: string): Undo {
      hidden.set(name, (hidden.get(name) ?? 0) + 1);
      return () => void hidden.set(name, (hidden.get(name) ?? 1) - 1);
    },
    find: (name: string): RegisteredAbility | null => (isShown(name) ? (abilities.get(name) ?? null) : null),
    list: (): Ability[] => [...abilities.values()].filter(({ name }) => isShown(name)),
    categories: (): AbilityCategory[] => [...categories.values()].filter(({ slug }) => isShown(slug)),
    /** Returns an undo that runs once. */
    remember(undo: Undo, isOfInit: boolean): Undo {
      const once = (): void => {
        if (!isOfInit || ofInit.delete(once)) undo();
      };
      if (isOfInit) ofInit.add(once);
      return once;
    },
    undoInit(): void {
      for (const undo of [...ofInit].reverse()) undo();
    },
  };
}

function checkName(name: string): void {
  if (!/^[a-z0-9-]+\/[a-z0-9-]+$/.test(name))
    throw new Error(
      `The name '${name}' of the ability is not valid. Write the namespace and a name of lower-case letters, digits and '-': hello/greet.`,
    );
}

function checkTexts(what: string, texts: Readonly<Record<string, unknown>>): void {
  for (const [name, text] of Object.entries(texts))
    if (typeof text !== 'string' || text === '') throw new Error(`${what} has no '${name}'.`);
}

function checkDefinition(
  name: string,
  definition: AbilityDefinition,
  categories: ReadonlyMap<string, AbilityCategory>,
): void {
  const what = `The ability '${name}'`;
  const { label, description, category, permission, execute } = definition;
  checkTexts(what, { label, description, category });
  if (!categories.has(category))
    throw new Error(`${what} has the unknown category '${category}'. Register it before, with registerCategory.`);
  for (const [member, value] of Object.entries({ permission, execute }))
    if (typeof value !== 'function') throw new Error(`${what} has no function '${member}'.`);
}

function toAbility(owner: string, name: string, definition: AbilityDefinition): RegisteredAbility {
  const { label, description, category, inputSchema, outputSchema, meta = {} } = definition;
  const { annotations, ...others } = meta;
  const isPublic = others.public === true;
  return {
    name,
    owner,
    label,
    description,
    category,
    inputSchema: (inputSchema as JsonSchema | undefined) ?? null,
    outputSchema: outputSchema ?? null,
    meta: {
      annotations: { readonly: null, destructive: null, idempotent: null, ...annotations },
      ...others,
      show_in_rest: others.show_in_rest ?? isPublic,
      public: isPublic,
    },
    permission: definition.permission.bind(definition),
    execute: definition.execute.bind(definition),
  };
}
