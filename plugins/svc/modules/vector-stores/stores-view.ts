import { RestError, type JsonSchema } from '#plugin-api';
import type { ServiceContext } from '../../wiring.ts';
import { missingSettings } from '../../settings/configured.ts';
import { fieldLabel } from '../../settings/field-value.ts';
import type { FieldErrors } from '../../kit/field-errors.ts';
import { schemaFields, type SchemaField } from '../../admin-ui/schema-field.ts';

type Store = ServiceContext['knownVectorStores'][number];

/** A form that came back: which one, what was typed, and what is wrong with it. */
export interface RefusedForm {
  /** `settings-<id>` or `create-<id>`. */
  readonly form: string;
  readonly typed: Readonly<Record<string, unknown>>;
  readonly errors: FieldErrors;
}

export interface StoreCard {
  readonly id: string;
  readonly label: string;
  readonly targetKind: string;
  readonly badge: { readonly text: string; readonly kind: 'success' | 'info' };
  readonly open: boolean;
  readonly missing: string;
  readonly fields: readonly SchemaField[];
}

interface TargetRow {
  readonly name: string;
  readonly dimension: number | null;
  readonly metric: string | null;
  /** Null: it could not be counted. */
  readonly count: number | null;
}

interface StoreTargets extends Pick<StoreCard, 'id' | 'label' | 'targetKind'> {
  readonly targets: readonly TargetRow[];
  /** Why they could not be listed; '' when they could. */
  readonly failure: string;
  readonly create: readonly SchemaField[];
  readonly creating: boolean;
}

/** A page that somebody waits for: a store that does not answer by then is said not to. */
const listLimit = 5_000;
/** Targets of one store that are counted; each costs a request. */
const mostCounted = 50;

/** The data of `svc/vector-stores`. Holds no secret: only what is saved and how it ends. */
export async function storesView(context: ServiceContext, refused?: RefusedForm): Promise<Record<string, unknown>> {
  const stores = context.vectorStores.all();
  const [cards, lists] = await Promise.all([
    Promise.all(stores.map((store) => storeCard(context, store, refused))),
    Promise.all(stores.map((store) => targetsOf(context, store, refused))),
  ]);
  return {
    cards,
    lists: lists.filter((list) => list !== null),
    sandbox: await context.settings.sandbox.isOn(),
    upsertUrl: context.host.rest.url('/svc/v1/vector-stores/upsert'),
  };
}

export async function storeCard(context: ServiceContext, store: Store, refused?: RefusedForm): Promise<StoreCard> {
  const saved = await context.vectorStoreSettings.saved(store);
  const missing = missingSettings(store, saved);
  const mine = refused?.form === `settings-${store.id}` ? refused : undefined;
  return {
    id: store.id,
    label: store.label,
    targetKind: store.targetKind,
    badge: missing.length === 0 ? { text: 'Configured', kind: 'success' } : { text: 'Not configured', kind: 'info' },
    open: mine !== undefined,
    missing: missing.map((name) => fieldLabel(name, store.settings.properties[name] ?? {})).join(', '),
    fields: schemaFields({
      schemas: store.settings.properties,
      group: 'settings',
      id: store.id,
      saved,
      ...(mine && { typed: mine.typed, errors: mine.errors }),
    }),
  };
}

/** What a configured store holds, or null for one that is not configured. */
async function targetsOf(
  context: ServiceContext,
  store: Store,
  refused: RefusedForm | undefined,
): Promise<StoreTargets | null> {
  if (missingSettings(store, await context.vectorStoreSettings.effective(store.id)).length > 0) return null;
  const mine = refused?.form === `create-${store.id}` ? refused : undefined;
  const list = {
    id: store.id,
    label: store.label,
    targetKind: store.targetKind,
    create: schemaFields({
      schemas: createSchemas(store),
      group: 'target',
      id: `create-${store.id}`,
      saved: {},
      ...(mine && { typed: mine.typed, errors: mine.errors }),
    }),
    creating: mine !== undefined,
  };
  try {
    return { ...list, targets: await rowsOf(context, store), failure: '' };
  } catch (thrown) {
    if (!(thrown instanceof RestError)) throw thrown;
    return { ...list, targets: [], failure: thrown.message };
  }
}

/** Indexes or collections by name, with their figures. Throws RestError. */
export async function rowsOf(context: ServiceContext, store: Store): Promise<TargetRow[]> {
  const session = await context.openVectorStore(store.id, { timeout: listLimit, retries: false });
  const targets = (await session.list()).sort((left, right) => left.name.localeCompare(right.name));
  return Promise.all(
    targets.map(async ({ name, dimension, metric }, place) => ({
      name,
      dimension,
      metric,
      count: place < mostCounted ? await session.count(name, {}).catch(() => null) : null,
    })),
  );
}

function createSchemas(store: Store): Record<string, JsonSchema> {
  return {
    name: { type: 'string', title: 'Name', ...(store.targetName && { description: `${store.targetName.rule}.` }) },
    dimension: {
      type: 'integer',
      title: 'Dimension',
      description: 'Length of the vectors your embedding model gives: 1536 for text-embedding-3-small.',
      minimum: 1,
      maximum: 65_536,
    },
    metric: {
      type: 'string',
      title: 'Metric',
      description: 'How near two vectors are. Cosine suits most embedding models.',
      enum: [...store.metrics],
      default: store.metrics[0] ?? 'cosine',
    },
  };
}
