import type { Clock, OptionsApi } from '#plugin-api';
import type { ModelInfo, ModelKind } from '../../providers/provider.ts';

import { modelsTransient } from '../names.ts';

export type { ModelKind };

/** The models a provider listed, each once, in the order of their names. */
export interface ModelList {
  /** When the provider was asked, in milliseconds since the epoch; null: never, or too long ago. */
  readonly syncedAt: number | null;
  readonly models: readonly Pick<ModelInfo, 'id' | 'kinds'>[];
}

/** What was found by the last test or sync of each provider; seen by every node. */
export interface ModelLists {
  get(providerId: string): Promise<ModelList>;
  remember(providerId: string, models: readonly Pick<ModelInfo, 'id' | 'kinds'>[]): Promise<void>;
}

const mostModels = 2000;
const rememberedSeconds = 90 * 24 * 3600;
const never: ModelList = { syncedAt: null, models: [] };

export function createModelLists({
  options,
  clock,
}: {
  readonly options: Pick<OptionsApi, 'getTransient' | 'setTransient'>;
  readonly clock: Pick<Clock, 'now'>;
}): ModelLists {
  return {
    async get(providerId) {
      const stored = await options.getTransient<Partial<ModelList> | false>(modelsTransient(providerId));
      if (!stored || typeof stored.syncedAt !== 'number' || !Array.isArray(stored.models)) return never;
      return { syncedAt: stored.syncedAt, models: stored.models as ModelList['models'] };
    },
    async remember(providerId, models) {
      const byId = new Map(models.map(({ id, kinds }) => [id, { id, ...(kinds && { kinds }) }]));
      const sorted = [...byId.values()].sort((left, right) => left.id.localeCompare(right.id)).slice(0, mostModels);
      await options.setTransient(
        modelsTransient(providerId),
        { syncedAt: clock.now(), models: sorted },
        rememberedSeconds,
      );
    },
  };
}

/** Names of the models that make a kind of thing. Those that say nothing may be of any kind, unless others of the list say that they are. */
export function modelsOfKind({ models }: Pick<ModelList, 'models'>, kind: ModelKind): string[] {
  const saying = models.filter(({ kinds }) => kinds?.includes(kind));
  const silent = models.filter(({ kinds }) => kinds === undefined);
  // Where the far end tells embeddings and images apart, what it says nothing of is text.
  return (
    kind === 'text'
      ? models.filter(({ kinds }) => kinds === undefined || kinds.includes('text'))
      : saying.length > 0
        ? saying
        : silent
  ).map(({ id }) => id);
}
