import { RestError, type AdminActionResult, type AdminPageBody, type AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { contentOf } from '../content.ts';
import { contentChannel } from '../register-names.ts';
import type { Batch } from '../runs/item.ts';
import { batchView, batchProgress } from './batch-view.ts';
import { idOf, slugs } from './content-pages.ts';
import { mapRow } from './read-inputs.ts';
import { emptyInput } from '../write/draft.ts';

const template = 'svc/content-batch';

/** One batch: looked over before it begins, followed while it is written, mended afterwards. */
export function batchPage(context: ServiceContext): AdminPageBody {
  const { runs } = contentOf(context);
  const find = (request: AdminRequest, id: unknown): Promise<Batch> => batchOf(context, request, id);
  const back = ({ id }: Batch): string => `${slugs.batch}?id=${String(id)}`;

  return {
    render: async (request) => ({
      template,
      data: await batchView(context, await find(request, request.query['id']), request),
    }),
    actions: {
      start: async (request) => {
        const batch = await find(request, request.form['id']);
        if (!(await runs.startBatch(batch.id)))
          return { notice: { kind: 'info', text: 'It was begun already.' }, redirect: back(batch) };
        await wake(context);
        return {
          notice: { kind: 'success', text: 'Writing has begun. You may close this page.' },
          redirect: back(batch),
        };
      },
      map: async (request) => {
        const batch = await find(request, request.form['id']);
        const { mapping } = batch.settings;
        if (mapping === null || batch.status !== 'draft')
          throw new RestError({
            code: 'rest_svc_batch_started',
            status: 409,
            message: 'Its columns cannot be changed any more.',
          });
        const chosen = (name: string): string =>
          mapping.columns.includes(readText(request, name)) ? readText(request, name) : '';
        const changed = {
          ...mapping,
          topic: chosen('topic') || (mapping.columns[0] ?? ''),
          keywords: chosen('keywords'),
          instructions: chosen('instructions'),
        };
        const inputs = (await runs.allInputs(batch.id)).map((input) => mapRow(input.row ?? {}, changed, emptyInput));
        await runs.changeBatch(batch.id, { settings: { ...batch.settings, mapping: changed }, inputs });
        return { notice: { kind: 'success', text: 'The columns are taken as you said.' }, redirect: back(batch) };
      },
      cancel: async (request) => {
        const batch = await find(request, request.form['id']);
        const cancelled = await runs.cancel(batch.id);
        return {
          notice: {
            kind: 'success',
            text: cancelled === 1 ? 'One text was cancelled.' : `${String(cancelled)} texts were cancelled.`,
          },
          redirect: back(batch),
        };
      },
      retry: async (request) => {
        const batch = await find(request, request.form['id']);
        const item = idOf(request.form['item']);
        const again = await runs.retry(batch.id, item ?? undefined);
        await wake(context);
        return {
          notice:
            again === 0
              ? { kind: 'info', text: 'There is nothing to try again.' }
              : {
                  kind: 'success',
                  text:
                    again === 1
                      ? 'It is written again. Parts that were written already stay.'
                      : `${String(again)} are written again. Parts that were written already stay.`,
                },
          redirect: back(batch),
        };
      },
      delete: async (request): Promise<AdminActionResult> => {
        const batch = await find(request, request.form['id']);
        await runs.deleteBatch(batch.id);
        return {
          notice: {
            kind: 'success',
            text: batch.status === 'draft' ? 'The batch is discarded.' : 'The batch is deleted. Its posts stay.',
          },
          redirect: slugs.runs,
        };
      },
      progress: async (request) => ({
        data: await batchProgress(context, await find(request, request.form['id']), request),
      }),
    },
  };
}

/** Those of others are for administrators. */
async function batchOf(context: ServiceContext, { user }: AdminRequest, id: unknown): Promise<Batch> {
  const number = idOf(id);
  const batch = number === null ? null : await contentOf(context).runs.batch(number);
  if (batch === null || (batch.userId !== user.id && !user.can('manage_options')))
    throw new RestError({
      code: 'rest_svc_batch_not_found',
      status: 404,
      message: 'There is no such batch. It may have been deleted.',
    });
  return batch;
}

/** This process begins at once, where it writes at all; the others are told. */
async function wake({ host }: ServiceContext): Promise<void> {
  await host.database.notify(contentChannel, '');
}
