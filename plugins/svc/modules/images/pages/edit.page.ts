import { readFile } from 'node:fs/promises';
import { RestError, type AdminActionResult, type AdminPageBody, type AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { fieldErrorsOf, invalidFields } from '../../../kit/field-errors.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import type { JobSource } from '../draw/image-job.ts';
import { readJob } from '../draw/read-job.ts';
import { sourceOfImage, sourceOfMedia } from '../draw/read-source.ts';
import { imageSlug, imagesSlug } from '../image-names.ts';
import { drawAction, newRequest } from './draw-action.ts';
import { findImage } from './image.page.ts';
import { pathOf } from './image-tile.ts';
import { jobForm } from './job-form.ts';

const template = 'svc/image-edit';
type Values = Readonly<Record<string, unknown>>;

/** A new version of an image: of the history (`image`), of the media library (`media`), or of a file that is uploaded. */
export function editPage(context: ServiceContext): AdminPageBody {
  return {
    render: async ({ query }) => ({
      template,
      data: await view(context, query, { values: await valuesOf(context, query) }),
    }),
    actions: { draw: (request) => edit(context, request) },
  };
}

/** The provider that drew it is the first to be asked, if it edits. */
async function valuesOf(context: ServiceContext, query: Values): Promise<Values> {
  const image = await findImage(context, query['image']);
  return image === null ? {} : { provider: image.providerId, model: image.model };
}

async function view(
  context: ServiceContext,
  named: Values,
  form: Pick<Parameters<typeof jobForm>[1], 'values' | 'errors'>,
): Promise<Record<string, unknown>> {
  const { host } = context;
  const image = await findImage(context, named['image']);
  const mediaId =
    image?.mediaId ??
    (typeof named['media'] === 'string' && /^[1-9]\d{0,8}$/.test(named['media']) ? Number(named['media']) : 0);
  const media = mediaId > 0 ? await host.content.media.get(mediaId) : null;
  const source =
    media === null || !media.mimeType.startsWith('image/')
      ? null
      : { path: pathOf(media.url), alt: media.alt || media.title };
  return {
    form: await jobForm(context, { act: 'edit', ...form }),
    source,
    image: image?.id ?? '',
    media: image === null && source !== null ? mediaId : '',
    backHref:
      image === null
        ? new URL(host.admin.url(imagesSlug)).pathname
        : `${new URL(host.admin.url(imageSlug)).pathname}?id=${String(image.id)}`,
  };
}

async function edit(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  try {
    const source = await sourceOfForm(context, request);
    const job = readJob(request.form, { request: newRequest(), userId: request.user.id, source });
    return await drawAction(context, request, {
      job,
      redirect: ({ images: [first] }) => `${imageSlug}?id=${String(first?.id ?? '')}`,
    });
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    const errors = fieldErrorsOf(error) ?? {};
    return {
      notice: { kind: 'error', text: error.message },
      data: { message: error.message, errors },
      page: { template, data: await view(context, request.form, { values: request.form, errors }) },
    };
  }
}

/** Files are gone once the action has answered: they are read at once. */
async function sourceOfForm(context: ServiceContext, request: AdminRequest): Promise<JobSource> {
  const { files = {} } = request;
  const mask = files['mask'] === undefined ? {} : { mask: await readFile(files['mask'].path) };
  const image = await findImage(context, request.form['image']);
  if (image !== null) return { ...(await sourceOfImage(context, image)), ...mask };
  if (readText(request, 'media') !== '')
    return { ...(await sourceOfMedia(context, Number(readText(request, 'media')))), ...mask };
  const file = files['file'];
  if (file === undefined) throw invalidFields({ file: 'Choose the image that is to be edited.' });
  return { image: await readFile(file.path), mediaId: null, parentId: null, ...mask };
}
