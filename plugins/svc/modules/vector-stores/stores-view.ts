import { type FormField, RestError, type JsonSchema } from '#plugin-api';
import type { Store, VectorStoresPorts } from './module.ts';
import { configurationState, missingSettings, type ConfigurationState } from '../../settings/configured.ts';
import { readFields } from '../../settings/field-value.ts';
import type { RejectedForm } from '../../settings/page/settings-view.ts';
import { settingFields } from '../../admin-ui/setting-fields.ts';

export interface StoreCard {
  readonly id: string;
  readonly label: string;
  readonly targetKind: string;
  readonly badge: ConfigurationState['badge'];
  readonly open: boolean;
  readonly missing: string;
  readonly fields: readonly FormField[];
}

interface TargetRow {
  readonly name: string;
  readonly dimension: number | null;
  readonly metric: Store['metrics'][number] | null;
  /** Null if it could not be counted. */
  readonly count: number | null;
}

/** By what the store keeps vectors in. */
const createTitles: Readonly<Record<Store['targetKind'], string>> = {
  index: 'Create a new index',
  collection: 'Create a new collection',
};

interface StoreTargets extends Pick<StoreCard, 'id' | 'label' | 'targetKind'> {
  /** Not asked for yet: the browser loads `listHref` after the page. */
  readonly isPending: boolean;
  readonly createTitle: string;
  readonly listHref: string;
  readonly targets: readonly (Omit<TargetRow, 'metric'> & {
    /** For people. */
    readonly metric: string | null;
    readonly fields: Readonly<Record<string, string>>;
  })[];
  /** Why they could not be listed, or ''. */
  readonly failure: string;
  readonly create: readonly FormField[];
  readonly creating: boolean;
}

const storesSlug = 'svc/vector-stores';
/** Milliseconds a store has to respond with its list. */
const listLimit = 5_000;
/** Targets per store that are counted; each costs a request. */
const maxCounted = 50;

/** Names of the metrics for people. */
const metricLabels: Readonly<Record<Store['metrics'][number], string>> = {
  cosine: 'Cosine similarity',
  euclidean: 'Euclidean distance',
  dotproduct: 'Dot product',
};

/** Which stores are asked for their indexes or collections: an id, or all. */
export const allLists = 'all';

/**
 * The data of `svc/vector-stores`. Contains no secret, only masked ones.
 *
 * @param listed whose indexes or collections are listed. The page without any is shown at once, whatever the stores do.
 */
export async function storesView(
  ports: VectorStoresPorts,
  { invalid, listed = '' }: { readonly invalid?: RejectedForm; readonly listed?: string } = {},
): Promise<Record<string, unknown>> {
  const stores = ports.vectorStores.all();
  const [cards, lists] = await Promise.all([
    Promise.all(stores.map((store) => storeCard(ports, store, invalid))),
    Promise.all(
      stores.map((store) => storeTargets(ports, store, { invalid, isListed: [store.id, allLists].includes(listed) })),
    ),
  ]);
  return {
    cards,
    lists: lists.filter((list) => list !== null),
    allHref: `${ports.host.admin.url(storesSlug)}?list=${allLists}`,
    sandbox: await ports.settings.sandbox.isOn(),
    upsertUrl: ports.host.rest.url('/svc/v1/vector-stores/upsert'),
  };
}

export async function storeCard(ports: VectorStoresPorts, store: Store, invalid?: RejectedForm): Promise<StoreCard> {
  const saved = await ports.vectorStoreSettings.saved(store);
  const { badge, missing } = configurationState(store, saved, {
    unreadable: await ports.vectorStoreSettings.unreadable(store),
    isSaved: await ports.vectorStoreSettings.isSaved(store),
  });
  const own = invalid?.form === `settings-${store.id}` ? invalid : undefined;
  return {
    id: store.id,
    label: store.label,
    targetKind: store.targetKind,
    badge: store.isBuiltIn === true ? { text: 'Ready', kind: 'success' } : badge,
    open: own !== undefined,
    missing,
    fields: settingFields({
      schemas: store.settings.properties,
      group: 'settings',
      id: store.id,
      saved,
      ...(own && { typed: own.typed, errors: own.errors }),
    }),
  };
}

/** The indexes or collections of a store, or null if it is not configured. */
async function storeTargets(
  ports: VectorStoresPorts,
  store: Store,
  { invalid, isListed }: { readonly invalid: RejectedForm | undefined; readonly isListed: boolean },
): Promise<StoreTargets | null> {
  if (missingSettings(store, await ports.vectorStoreSettings.effective(store.id)).length > 0) return null;
  const own = invalid?.form === `create-${store.id}` ? invalid : undefined;
  const list = {
    id: store.id,
    label: store.label,
    targetKind: store.targetKind,
    create: settingFields({
      schemas: targetSchemas(store),
      group: 'target',
      id: `create-${store.id}`,
      saved: {},
      ...(own && { typed: own.typed, errors: own.errors }),
    }),
    creating: own !== undefined,
    createTitle: createTitles[store.targetKind],
    isPending: !isListed,
    listHref: `${ports.host.admin.url(storesSlug)}?list=${store.id}`,
  };
  if (!isListed) return { ...list, targets: [], failure: '' };
  try {
    const targets = await listTargets(ports, store);
    return {
      ...list,
      targets: targets.map((target) => ({
        ...target,
        metric: target.metric === null ? null : metricLabels[target.metric],
        fields: { store: store.id, target: target.name },
      })),
      failure: '',
    };
  } catch (thrown) {
    if (!(thrown instanceof RestError)) throw thrown;
    return { ...list, targets: [], failure: thrown.message };
  }
}

/** Indexes or collections by name, with their counts. @throws RestError */
export async function listTargets(ports: VectorStoresPorts, store: Store): Promise<TargetRow[]> {
  const session = await ports.openVectorStore(store.id, { timeout: listLimit, retries: false });
  const targets = (await session.list()).sort((left, right) => left.name.localeCompare(right.name));
  return Promise.all(
    targets.map(async ({ name, dimension, metric }, index) => ({
      name,
      dimension,
      metric,
      count: index < maxCounted ? await session.count(name, {}).catch(() => null) : null,
    })),
  );
}

/** The form of a new index or collection, by the store's rules. */
function targetSchemas({ targetName, metrics }: Store) {
  return {
    name: {
      type: 'string',
      title: 'Name',
      required: true,
      ...(targetName && {
        description: `${targetName.rule}.`,
        pattern: targetName.pattern.source,
        rule: `must have ${targetName.rule}`,
      }),
    },
    dimension: {
      type: 'integer',
      title: 'Dimension',
      description: 'Vector length of your embedding model: 1536 for text-embedding-3-small.',
      minimum: 1,
      maximum: 65_536,
      required: true,
    },
    metric: {
      type: 'string',
      title: 'Metric',
      description: 'How vectors are compared. Cosine suits most embedding models.',
      enum: metrics,
      ui: { labels: metricLabels },
      default: metrics[0] ?? 'cosine',
    },
  } as const satisfies Record<string, JsonSchema>;
}

/** @throws RestError 400 `rest_invalid_param` with a sentence for each invalid field */
export function readTarget(store: Store, given: Readonly<Record<string, unknown>>) {
  const { name, dimension, metric = store.metrics[0] ?? 'cosine' } = readFields(targetSchemas(store), given);
  return { name, dimension, metric };
}
