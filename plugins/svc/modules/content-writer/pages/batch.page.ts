import { parseId, formatCount, withNotice, restError } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ContentWriter } from '../content-writer.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import type { Batch } from '../runs/item.ts';
import { batchView, batchProgress } from './batch-view.ts';
import { slugs } from './content-pages.ts';
import { mapRow } from './read-inputs.ts';
import { emptyInput } from '../write/draft.ts';

const template = 'svc/content-batch';

/** The page of one batch: review, progress, and retries of failed texts. */
export function createPage(writer: ContentWriter): AdminPageBody {
  const { runs } = writer;
  const find = (request: AdminRequest, id: unknown): Promise<Batch> => requireBatch(writer, request, id);
  const back = ({ id }: Batch): string => `${slugs.batch}?id=${String(id)}`;

  return {
    render: async (request) => ({
      template,
      data: await batchView(writer, await find(request, request.query['id']), request),
    }),
    actions: {
      start: async (request) => {
        const batch = await find(request, request.form['id']);
        if (!(await runs.startBatch(batch.id)))
          return withNotice('info', 'The batch was already started.', { redirect: back(batch) });
        return withNotice('success', 'Writing has started. You can close this page.', { redirect: back(batch) });
      },
      map: async (request) => {
        const batch = await find(request, request.form['id']);
        const { mapping } = batch.settings;
        if (mapping === null || batch.status !== 'draft')
          throw restError(409, 'rest_svc_batch_started', 'The columns cannot be changed after the batch is started.');
        const chosen = (name: string): string =>
          mapping.columns.includes(readText(request, name)) ? readText(request, name) : '';
        const changed = {
          ...mapping,
          topic: chosen('topic') || (mapping.columns[0] ?? ''),
          keywords: chosen('keywords'),
          instructions: chosen('instructions'),
          category: chosen('category'),
        };
        const inputs = (await runs.allInputs(batch.id)).map((input) => mapRow(input.row ?? {}, changed, emptyInput));
        await runs.changeBatch(batch.id, { settings: { ...batch.settings, mapping: changed }, inputs });
        return withNotice('success', 'Columns applied.', { redirect: back(batch) });
      },
      cancel: async (request) => {
        const batch = await find(request, request.form['id']);
        const cancelled = await runs.cancel(batch.id);
        return withNotice('success', `${formatCount(cancelled, 'text')} cancelled.`, { redirect: back(batch) });
      },
      retry: async (request) => {
        const batch = await find(request, request.form['id']);
        const again = await runs.retry(batch.id, parseId(request.form['item']) || undefined);
        return {
          notice:
            again === 0
              ? { kind: 'info', text: 'There is nothing to retry.' }
              : {
                  kind: 'success',
                  text: `Retrying ${formatCount(again, 'text')}. Finished sections are kept.`,
                },
          redirect: back(batch),
        };
      },
      delete: async (request): Promise<AdminActionResult> => {
        const batch = await find(request, request.form['id']);
        await runs.deleteBatch(batch.id);
        return withNotice(
          'success',
          batch.status === 'draft' ? 'Batch discarded.' : 'Batch deleted. Its posts are kept.',
          { redirect: slugs.runs },
        );
      },
      progress: async (request) => ({
        readOnly: true,
        data: await batchProgress(writer, await find(request, request.form['id']), request),
      }),
    },
  };
}

/** Only administrators may open the batches of other users. */
async function requireBatch(writer: ContentWriter, { user }: AdminRequest, id: unknown): Promise<Batch> {
  const batch = await writer.runs.batch(parseId(id));
  if (batch === null || (batch.userId !== user.id && !user.can('manage_options')))
    throw restError(404, 'rest_svc_batch_not_found', 'Batch not found. It may have been deleted.');
  return batch;
}
