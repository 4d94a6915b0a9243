import type { ServiceContext } from '../../../wiring.ts';
import { imagesOf } from '../images-of.ts';
import { imagesSlug } from '../image-names.ts';
import { imageOrigins, type ImageFilter, type ImageMode, type ImageOrigin } from '../store/image.ts';
import { imageTiles } from './image-tile.ts';

type Query = Readonly<Record<string, unknown>>;

const aPage = 24;
const names = ['search', 'origin', 'mode', 'model'] as const;

const text = (query: Query, name: string): string =>
  typeof query[name] === 'string' ? query[name].trim().slice(0, 200) : '';

/** A filter from an address; whatever cannot be one is left out, so that any address shows a page. */
export function readFilter(query: Query): ImageFilter {
  const origin = imageOrigins.find((one) => one === text(query, 'origin')) as ImageOrigin | undefined;
  const mode = (['generate', 'edit'] as const).find((one) => one === text(query, 'mode')) as ImageMode | undefined;
  const model = /^([^:]+):(.+)$/.exec(text(query, 'model'));
  const search = text(query, 'search');
  return {
    ...(search !== '' && { search }),
    ...(origin && { origin }),
    ...(mode && { mode }),
    ...(model && { providerId: model[1], model: model[2] }),
  };
}

function place(query: Query, name: string): number | undefined {
  const value = text(query, name);
  return /^[1-9]\d{0,9}$/.test(value) ? Number(value) : undefined;
}

/** The history as the page shows it: one page of it from a place on, however long it is. */
export async function historyView(context: ServiceContext, query: Query) {
  const { host } = context;
  const { store } = imagesOf(context);
  const filter = readFilter(query);
  const [before, after] = [place(query, 'before'), place(query, 'after')];
  const found = await store.list(filter, { limit: aPage + 1, ...(after === undefined ? { before } : { after }) });
  const more = found.length > aPage;
  const images = after === undefined ? found.slice(0, aPage) : found.slice(-aPage);
  const [first, last] = [images[0]?.id, images.at(-1)?.id];
  const address = (values: Readonly<Record<string, string>>): string => {
    const kept = Object.fromEntries(
      names.flatMap((name) => (text(query, name) === '' ? [] : [[name, text(query, name)]])),
    );
    return `${new URL(host.admin.url(imagesSlug)).pathname}?${new URLSearchParams({ ...kept, ...values }).toString()}#history`;
  };
  const models = await store.models();
  const isFiltered = Object.keys(filter).length > 0;
  return {
    tiles: await imageTiles(host, images),
    total: await store.count(filter),
    isFiltered,
    isEmpty: images.length === 0 && !isFiltered && before === undefined && after === undefined,
    search: text(query, 'search'),
    origin: filter.origin ?? '',
    mode: filter.mode ?? '',
    model: filter.model === undefined ? '' : text(query, 'model'),
    origins: [
      { value: '', label: 'Anywhere' },
      { value: imageOrigins[0], label: 'The generator' },
      { value: imageOrigins[1], label: 'Visitors' },
      { value: imageOrigins[2], label: 'Automations' },
    ],
    modes: [
      { value: '', label: 'All' },
      { value: 'generate', label: 'Drawn' },
      { value: 'edit', label: 'Edited' },
    ],
    modelChoices: [
      { value: '', label: 'Any' },
      ...models.map(({ providerId, model }) => ({ value: `${providerId}:${model}`, label: model })),
    ],
    newest: before === undefined && after === undefined ? null : address({}),
    newer:
      first !== undefined && (after === undefined ? before !== undefined : more)
        ? address({ after: String(first) })
        : null,
    older: last !== undefined && (after === undefined ? more : true) ? address({ before: String(last) }) : null,
  };
}
