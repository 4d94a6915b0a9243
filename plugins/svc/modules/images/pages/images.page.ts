import type { Images } from '../images.ts';
import { parseId, withNotice, fieldErrorsOf } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import { readJob } from '../generation/read-job.ts';
import { generateAction, newRequest } from './generate-action.ts';
import { imageTiles } from './image-tile.ts';
import { jobForm, priceText, type TypedJob } from './job-form.ts';
import { modelFields } from './job-form.ts';
import { imagesSlug } from '../image-names.ts';
import { imageOrigins, type ImageFilter, type ImageMode, type ImageOrigin } from '../store/image.ts';

type Query = Readonly<Record<string, unknown>>;

const pageSize = 24;
const names = ['search', 'origin', 'mode', 'model'] as const;

const text = (query: Query, name: string): string =>
  typeof query[name] === 'string' ? query[name].trim().slice(0, 200) : '';

/** Ignores invalid parameters, so that any URL shows a page. */
function readFilter(query: Query): ImageFilter {
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

function readId(query: Query, name: string): number | undefined {
  return parseId(query[name]) || undefined;
}

async function historyView(parts: Images, query: Query) {
  const { host } = parts;
  const { store } = parts;
  const filter = readFilter(query);
  const [before, after] = [readId(query, 'before'), readId(query, 'after')];
  const found = await store.list(filter, { limit: pageSize + 1, ...(after === undefined ? { before } : { after }) });
  const more = found.length > pageSize;
  const images = after === undefined ? found.slice(0, pageSize) : found.slice(-pageSize);
  const [first, last] = [images[0]?.id, images.at(-1)?.id];
  const address = (values: Readonly<Record<string, string>>): string => {
    const current = Object.fromEntries(
      names.flatMap((name) => (text(query, name) === '' ? [] : [[name, text(query, name)]])),
    );
    return `${new URL(host.admin.url(imagesSlug)).pathname}?${new URLSearchParams({ ...current, ...values }).toString()}#history`;
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
      { value: '', label: 'All sources' },
      { value: imageOrigins[0], label: 'Administrators' },
      { value: imageOrigins[1], label: 'Visitors' },
      { value: imageOrigins[2], label: 'Automations' },
    ],
    modes: [
      { value: '', label: 'All' },
      { value: 'generate', label: 'Generated' },
      { value: 'edit', label: 'Edited' },
    ],
    modelChoices: [
      { value: '', label: 'All' },
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

const template = 'svc/images';

export function createPage(parts: Images): AdminPageBody {
  return {
    render: async ({ query }) => ({
      template,
      data: await view(parts, query, { values: await reusedValues(parts, query) }),
    }),
    actions: {
      draw: (request) => generate(parts, request),
      // The fields that the chosen model supports, for the page's script.
      takes: async (request) => {
        const fields = await modelFields(parts, {
          provider: readText(request, 'provider'),
          model: readText(request, 'model').trim(),
          size: readText(request, 'size').trim(),
          quality: readText(request, 'quality'),
        });
        return { readOnly: true, data: { ...fields, priceText: priceText(fields.price) } };
      },
    },
  };
}

type Values = Readonly<Record<string, unknown>>;

async function view(parts: Images, query: Values, form: TypedJob): Promise<Record<string, unknown>> {
  const { store } = parts;
  const request = typeof query['request'] === 'string' ? query['request'] : '';
  const results = request === '' ? [] : await imageTiles(parts.host, await store.ofRequest(request));
  const { enabled } = await parts.visitorSettings.get();
  return {
    form: await jobForm(parts, { mode: 'generate', ...form }),
    results,
    history: await historyView(parts, query),
    isPublic: enabled,
  };
}

/** Values for "Reuse prompt". */
async function reusedValues(parts: Images, query: Values): Promise<Values> {
  const image = await parts.store.get(parseId(query['again']));
  return image === null ? {} : { prompt: image.prompt, provider: image.providerId, model: image.model, ...image.asked };
}

async function generate(parts: Images, request: AdminRequest): Promise<AdminActionResult> {
  try {
    return await generateAction(parts, request, {
      job: readJob(request.form, { request: newRequest(), userId: request.user.id }),
    });
  } catch (error) {
    const errors = fieldErrorsOf(error);
    const message = error instanceof Error ? error.message : '';
    if (!(error instanceof Error) || !('status' in error)) throw error;
    return withNotice('error', errors === null ? message : 'Nothing was generated. Correct the marked fields.', {
      data: { message, errors: errors ?? {} },
      page: { template, data: await view(parts, {}, { values: request.form, errors: errors ?? {} }) },
    });
  }
}
