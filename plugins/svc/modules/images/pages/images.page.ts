import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { fieldErrorsOf } from '../../../kit/field-errors.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { readJob } from '../draw/read-job.ts';
import { imagesOf } from '../images-of.ts';
import { visitorImagesOf } from '../public/visitors-of.ts';
import { drawAction, newRequest } from './draw-action.ts';
import { historyView } from './history.ts';
import { imageTiles } from './image-tile.ts';
import { jobForm, priceText } from './job-form.ts';
import { modelFields } from './model-fields.ts';

const template = 'svc/images';

/** The generator and the history. */
export function imagesPage(context: ServiceContext): AdminPageBody {
  return {
    render: async ({ query }) => ({
      template,
      data: await view(context, query, { values: await formerValues(context, query) }),
    }),
    actions: {
      draw: (request) => draw(context, request),
      // What the chosen model takes, for a page that follows the choice.
      takes: async (request) => {
        const fields = await modelFields(context, {
          provider: readText(request, 'provider'),
          model: readText(request, 'model').trim(),
        });
        return { data: { ...fields, priceText: priceText(fields.price) } };
      },
    },
  };
}

type Values = Readonly<Record<string, unknown>>;

async function view(
  context: ServiceContext,
  query: Values,
  form: Pick<Parameters<typeof jobForm>[1], 'values' | 'errors'>,
): Promise<Record<string, unknown>> {
  const { store } = imagesOf(context);
  const request = typeof query['request'] === 'string' ? query['request'] : '';
  const results = request === '' ? [] : await imageTiles(context.host, await store.ofRequest(request));
  const { enabled } = await visitorImagesOf(context).settings.get();
  return {
    form: await jobForm(context, { act: 'generate', ...form }),
    results,
    history: await historyView(context, query),
    isPublic: enabled,
  };
}

/** "Use again": the form as it was for an image. */
async function formerValues(context: ServiceContext, query: Values): Promise<Values> {
  const again = query['again'];
  const image =
    typeof again === 'string' && /^[1-9]\d{0,8}$/.test(again) ? await imagesOf(context).store.get(Number(again)) : null;
  return image === null ? {} : { prompt: image.prompt, provider: image.providerId, model: image.model, ...image.asked };
}

async function draw(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  try {
    return await drawAction(context, request, {
      job: readJob(request.form, { request: newRequest(), userId: request.user.id }),
    });
  } catch (error) {
    const errors = fieldErrorsOf(error);
    const message = error instanceof Error ? error.message : '';
    if (!(error instanceof Error) || !('status' in error)) throw error;
    // What was typed is not lost with what went wrong.
    return {
      notice: { kind: 'error', text: errors === null ? message : 'Nothing was drawn yet: look at the marked fields.' },
      data: { message, errors: errors ?? {} },
      page: { template, data: await view(context, {}, { values: request.form, errors: errors ?? {} }) },
    };
  }
}
