import { RestError, type AdminPageBody, type AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { contentOf } from '../content.ts';
import type { BatchTotals } from '../runs/item.ts';
import { postHref } from './compose-view.ts';
import { pageOf, pagesOf, slugs, tabsOf } from './content-pages.ts';
import { spentWords } from './estimate-words.ts';

const perPage = 20;

/** What was written: batches, and texts that were streamed. Administrators see those of everybody. */
export function runsPage(context: ServiceContext): AdminPageBody {
  return {
    render: async (request) => ({ template: 'svc/content-runs', data: await view(context, request) }),
    actions: {
      delete: async (request) => {
        const { runs } = contentOf(context);
        const item = await runs.item(readText(request, 'uuid'));
        if (
          item === null ||
          item.batchId !== null ||
          (item.userId !== request.user.id && !request.user.can('manage_options'))
        )
          throw new RestError({
            code: 'rest_svc_text_not_found',
            status: 404,
            message: 'There is no such text any more.',
          });
        await runs.remove(item.uuid);
        return {
          notice: {
            kind: 'success',
            text: item.postId === null ? 'The text is deleted.' : 'The text is deleted here. Its post stays.',
          },
        };
      },
    },
  };
}

async function view(context: ServiceContext, { user, query }: AdminRequest): Promise<Record<string, unknown>> {
  const { host } = context;
  const { runs } = contentOf(context);
  const userId = user.can('manage_options') ? null : user.id;
  const [page, textPage] = [pageOf({ query }), pageOf({ query }, 'texts')];
  const [batches, batchCount, texts, textCount] = await Promise.all([
    runs.batches({ userId, limit: perPage, offset: (page - 1) * perPage }),
    runs.countBatches(userId),
    runs.alone({ userId, limit: perPage, offset: (textPage - 1) * perPage }),
    runs.countAlone(userId),
  ]);
  const totals = await runs.totals(batches.map(({ id }) => id));
  const names = await host.users.names([...new Set([...batches, ...texts].map(({ userId: id }) => id))]);
  const href = host.admin.url(slugs.runs);
  return {
    tabs: tabsOf(host, 'runs'),
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
        spent: spentWords({
          tokens: text.draft.input_tokens + text.draft.output_tokens,
          cost: text.draft.cost,
          unpriced: text.draft.unpriced,
        }),
        // Only whoever asked for a text edits it here.
        href: text.userId === user.id ? `${host.admin.url(slugs.write)}?text=${text.uuid}` : null,
        postHref: text.postId === null ? null : await postHref(context, text.postId),
        fields: { uuid: text.uuid },
      })),
    ),
    batchPages: pagesOf({ page, total: batchCount, size: perPage, href: (at) => `${href}?page=${String(at)}` }),
    textPages: pagesOf({
      page: textPage,
      total: textCount,
      size: perPage,
      href: (at) => `${href}?texts=${String(at)}`,
    }),
  };
}

function progressOf(totals: BatchTotals, status: 'draft' | 'started'): Record<string, unknown> {
  const { counts, total } = totals;
  const finished = counts.completed + counts.failed + counts.cancelled;
  const badge =
    status === 'draft'
      ? { text: 'not begun', kind: 'info' }
      : finished < total
        ? { text: 'being written', kind: 'warning' }
        : counts.failed > 0
          ? { text: `${String(counts.failed)} failed`, kind: 'error' }
          : counts.cancelled > 0
            ? { text: 'cancelled', kind: 'info' }
            : { text: 'done', kind: 'success' };
  return { badge, done: counts.completed, total, spent: spentWords(totals) };
}
