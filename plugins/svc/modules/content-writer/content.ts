import { lazy } from '#plugin-api';
import type { ServiceContext } from '../../wiring.ts';
import { partsOf } from '../../kit/parts-of.ts';
import { createItemClaims, type ItemClaims } from './runs/item-claims.ts';
import { createRunStore, type RunStore } from './runs/run-store.ts';
import { createContentWorker, type ContentWorker } from './runs/worker.ts';
import { createTemplateStore, type TemplateStore } from './templates/template-store.ts';
import type { GenerateContent } from './write/generate-content.ts';

/** What the pages, commands and jobs of the content writer share. One per context. */
export interface Content {
  readonly templates: TemplateStore;
  readonly runs: RunStore;
  readonly claims: ItemClaims;
  readonly worker: ContentWorker;
  readonly generate: GenerateContent;
}

/** The parts of the content writer in this process. */
export const contentOf: (context: ServiceContext) => Content = partsOf(create);

function create(context: ServiceContext): Content {
  const { host } = context;
  const runs = createRunStore(host);
  const claims = createItemClaims(host);
  return {
    templates: createTemplateStore({
      host,
      providers: async () => {
        const all = await context.providers.all();
        return {
          text: all.filter(({ text }) => text).map(({ id }) => id),
          images: all.filter(({ images }) => images).map(({ id }) => id),
        };
      },
    }),
    runs,
    claims,
    worker: createContentWorker({ context, claims, runs }),
    generate: lazy(async () => (await import('./write/generate-content.ts')).createGenerateContent(context)),
  };
}
