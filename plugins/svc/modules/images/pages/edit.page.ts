import type { Images } from '../images.ts';
import { readFile } from 'node:fs/promises';
import { parseId, RestError, withNotice, fieldErrorsOf, invalidFields } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import type { JobSource } from '../generation/image-job.ts';
import { readJob } from '../generation/read-job.ts';
import { sourceOfImage, sourceOfMedia } from '../generation/read-job.ts';
import { imageSlug } from '../image-names.ts';
import { generateAction, newRequest } from './generate-action.ts';
import { findImage } from './image.page.ts';
import { pathOf } from './image-tile.ts';
import { jobForm, modelFields, type TypedJob } from './job-form.ts';

const template = 'svc/image-edit';
type Values = Readonly<Record<string, unknown>>;

/** Edits an image of the history (`image`), of the media library (`media`), or an uploaded file. */
export function createPage(parts: Images): AdminPageBody {
  return {
    render: async ({ query }) => ({
      template,
      data: await view(parts, query, { values: await valuesOf(parts, query) }),
    }),
    actions: { draw: (request) => edit(parts, request) },
  };
}

/** Preselects the provider and model that generated the image, if they can edit it. */
async function valuesOf(parts: Images, query: Values): Promise<Values> {
  const image = await findImage(parts, query['image']);
  if (image === null) return {};
  const { providerId: provider, model } = image;
  const { edit } = await modelFields(parts, { provider, model, size: '', quality: '' });
  return edit === null ? { provider } : { provider, model };
}

async function view(parts: Images, named: Values, form: TypedJob): Promise<Record<string, unknown>> {
  const { host } = parts;
  const image = await findImage(parts, named['image']);
  const mediaId = image?.mediaId ?? parseId(named['media']);
  const media = mediaId > 0 ? await host.content.media.get(mediaId) : null;
  const source =
    media === null || !media.mimeType.startsWith('image/')
      ? null
      : { path: pathOf(media.url), alt: media.alt || media.title };
  return {
    form: await jobForm(parts, { mode: 'edit', ...form }),
    source,
    image: image?.id ?? '',
    media: image === null && source !== null ? mediaId : '',
  };
}

async function edit(parts: Images, request: AdminRequest): Promise<AdminActionResult> {
  try {
    const source = await sourceOfForm(parts, request);
    const job = readJob(request.form, { request: newRequest(), userId: request.user.id, source });
    return await generateAction(parts, request, {
      job,
      redirect: ({ images: [first] }) => `${imageSlug}?id=${String(first?.id ?? '')}`,
    });
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    const errors = fieldErrorsOf(error) ?? {};
    return withNotice('error', error.message, {
      data: { message: error.message, errors },
      page: { template, data: await view(parts, request.form, { values: request.form, errors }) },
    });
  }
}

/** Reads the files now: the host deletes uploads after the action. */
async function sourceOfForm(parts: Images, request: AdminRequest): Promise<JobSource> {
  const { files = {} } = request;
  const mask = files['mask'] === undefined ? {} : { mask: await readFile(files['mask'].path) };
  const image = await findImage(parts, request.form['image']);
  if (image !== null) return { ...(await sourceOfImage(parts, image)), ...mask };
  if (readText(request, 'media') !== '')
    return { ...(await sourceOfMedia(parts, parseId(readText(request, 'media')))), ...mask };
  const file = files['file'];
  if (file === undefined) throw invalidFields({ file: 'Choose an image to edit.' });
  return { image: await readFile(file.path), mediaId: null, parentId: null, ...mask };
}
