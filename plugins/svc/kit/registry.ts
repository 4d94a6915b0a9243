import type { HooksApi, JsonSchema } from '#plugin-api';

/** What other plugins add by a filter: a provider, a vector store. */
export interface Registered {
  /** Lower-case letters and digits. */
  readonly id: string;
  readonly label: string;
  readonly settings: { readonly properties: Readonly<Record<string, JsonSchema>> };
}

/** All available items: the service's own, then those of a filter, applied at each call. */
export interface Registry<Item> {
  all(): Item[];
  get(id: string): Item | undefined;
  /** Whether an item comes from the service rather than from a filter. */
  isOwn(item: Item): boolean;
}

export interface RegistryInit<Item> {
  readonly hooks: Pick<HooksApi, 'applyFilters'> & WarningHooks;
  readonly filter: 'svc_providers' | 'svc_vector_stores';
  /** What warnings call an item, such as `provider`. */
  readonly noun: string;
  readonly own: readonly Item[];
  /** What else an item lacks, as a sentence; null: nothing. */
  readonly findLack?: (item: Partial<Item>) => string | null;
}

/** A filter may return anything: takes complete items, the first for each id, and warns about the others. */
export function createRegistry<Item extends Registered>({
  hooks,
  filter,
  noun,
  own,
  findLack,
}: RegistryInit<Item>): Registry<Item> {
  const warn = createOwnerWarnings(hooks, filter);
  const ownById = new Map(own.map((item) => [item.id, item]));
  const isOwn = (item: Item): boolean => own.includes(item);

  /** Undefined if no filter changes the list. This is the common case, checked several times per request. */
  const changed = (): Item[] | undefined => {
    const filtered: unknown = hooks.applyFilters(filter, own as never);
    return filtered === own ? undefined : checked(filtered);
  };
  const checked = (items: unknown): Item[] => {
    if (!Array.isArray(items)) {
      warn(`the value is no array, so there are no ${noun}s.`);
      return [];
    }
    const byId = new Map<string, Item>();
    for (const item of items as (Partial<Item> | null)[]) {
      const error =
        findError(item) ??
        findLack?.(item ?? {}) ??
        (byId.has(item?.id ?? '') ? `another ${noun} before it has this id.` : null);
      if (error === null) byId.set(item?.id ?? '', item as Item);
      else warn(`the ${noun} '${String(item?.id)}' is left out: ${error}`);
    }
    for (const item of byId.values())
      if (ownById.has(item.id) && !isOwn(item)) warn(`the ${noun} '${item.id}' replaces that of the service.`);
    return [...byId.values()];
  };

  return {
    all: () => changed() ?? [...own],
    isOwn,
    get(id) {
      const list = changed();
      return list ? list.find((item) => item.id === id) : ownById.get(id);
    },
  };
}

function findError(item: Partial<Registered> | null): string | null {
  const { id, label, settings } = item ?? {};
  if (typeof id !== 'string' || !/^[a-z0-9]+$/.test(id)) return 'its id must have lower-case letters and digits alone.';
  if (typeof label !== 'string') return 'it needs a label, which is its name for people.';
  return settings?.properties === undefined
    ? `its settings need 'properties', as in a JSON Schema of an object.`
    : null;
}

export type WarningHooks = Pick<HooksApi, 'doAction' | 'owners'>;

/**
 * Names what a filter returned that has no effect to the plugins that have callbacks on it, once per sentence: on the page of
 * the plugins and in the log. With several plugins it is unknown whose value it was, and all are named.
 *
 * @param sentence begins with a small letter: "the event 'a.b' is left out: ...".
 */
export function createOwnerWarnings(hooks: WarningHooks, filter: string): (sentence: string) => void {
  const reported = new Set<string>();
  return (sentence) => {
    const owners = hooks.owners(filter).filter((owner) => owner !== 'host' && owner !== 'svc');
    const key = `${owners.join()} ${sentence}`;
    if (reported.has(key)) return;
    reported.add(key);
    const others = owners.length > 1 ? ` (one of ${owners.map((owner) => `'${owner}'`).join(', ')} returned it)` : '';
    for (const owner of owners)
      hooks.doAction('plugin_warning', owner, `In the filter '${filter}', ${sentence}${others}`);
  };
}
