import { formatNumber, restError, type AdminPageBody, type AdminRequest, withNotice } from '#plugin-api';
import type { ContentWriter } from '../content-writer.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { listPage, paginate } from '../../../admin-ui/list-pages.ts';
import type { BatchTotals } from '../runs/item.ts';
import { findEditHref } from './compose-view.ts';
import { slugs, contentTabs } from './content-pages.ts';
import { formatSpend } from '../write/estimate.ts';

const perPage = 20;

/** The list of batches and single texts. Administrators see those of all users. */
export function createPage(writer: ContentWriter): AdminPageBody {
  return {
    render: async (request) => ({ template: 'svc/content-runs', data: await view(writer, request) }),
    actions: {
      delete: async (request) => {
        const { runs } = writer;
        const item = await runs.item(readText(request, 'uuid'));
        if (
          item === null ||
          item.batchId !== null ||
          (item.userId !== request.user.id && !request.user.can('manage_options'))
        )
          throw restError(404, 'rest_svc_text_not_found', 'Text not found. It may have been deleted.');
        await runs.remove(item.uuid);
        return withNotice('success', item.postId === null ? 'Text deleted.' : 'Text deleted. Its post is kept.');
      },
    },
  };
}

async function view(writer: ContentWriter, { user, query }: AdminRequest): Promise<Record<string, unknown>> {
  const { host } = writer;
  const { runs } = writer;
  const userId = user.can('manage_options') ? null : user.id;
  const [batchCount, textCount] = await Promise.all([runs.countBatches(userId), runs.countTexts(userId)]);
  const [batchPage, textPage] = [
    listPage(query, batchCount, perPage),
    listPage({ page: query['texts'] }, textCount, perPage),
  ];
  const [batches, texts] = await Promise.all([
    runs.batches({ userId, limit: perPage, offset: batchPage.offset }),
    runs.listTexts({ userId, limit: perPage, offset: textPage.offset }),
  ]);
  const totals = await runs.totals(batches.map(({ id }) => id));
  const names = await host.users.names([...new Set([...batches, ...texts].map(({ userId: id }) => id))]);
  return {
    tabs: contentTabs(host, 'runs'),
    isEmpty: batchCount + textCount === 0,
    writeHref: host.admin.url(slugs.write),
    batches: batches.map((batch) => ({
      ...batch,
      ...progressOf(totals.get(batch.id) as BatchTotals, batch.status),
      by: names.get(batch.userId) ?? '',
      href: `${host.admin.url(slugs.batch)}?id=${String(batch.id)}`,
    })),
    texts: await Promise.all(
      texts.map(async (text) => ({
        uuid: text.uuid,
        title: text.draft.title ?? (text.topic || 'Untitled'),
        message: text.message,
        createdAt: text.createdAt,
        by: names.get(text.userId) ?? '',
        spent: formatSpend({
          tokens: text.draft.input_tokens + text.draft.output_tokens,
          cost: text.draft.cost,
          unpriced: text.draft.unpriced,
        }),
        // Only its owner can edit a text here.
        href: text.userId === user.id ? `${host.admin.url(slugs.write)}?text=${text.uuid}` : null,
        postHref: text.postId === null ? null : await findEditHref(writer, text.postId),
        fields: { uuid: text.uuid },
      })),
    ),
    batchPages: paginate({ ...batchPage, query: {} }),
    textPages: paginate({ ...textPage, query: {}, parameter: 'texts' }),
  };
}

function progressOf(totals: BatchTotals, status: 'draft' | 'started'): Record<string, unknown> {
  const { counts, total } = totals;
  const finished = counts.completed + counts.failed + counts.cancelled;
  const badge =
    status === 'draft'
      ? { text: 'Not started', kind: 'info' }
      : finished < total
        ? { text: 'Writing', kind: 'warning' }
        : counts.failed > 0
          ? { text: `${formatNumber(counts.failed)} failed`, kind: 'error' }
          : counts.cancelled > 0
            ? { text: 'Cancelled', kind: 'info' }
            : { text: 'Finished', kind: 'success' };
  return { badge, done: counts.completed, total, spent: formatSpend(totals) };
}
