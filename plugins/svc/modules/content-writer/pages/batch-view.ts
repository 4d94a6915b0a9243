import { formatCount, formatDate, formatMoney, formatNumber, type AdminRequest } from '#plugin-api';
import type { ContentWriter } from '../content-writer.ts';
import { enabledParts, partLabels } from '../templates/template.ts';
import type { Batch, BatchTotals, Item, ItemStatus } from '../runs/item.ts';
import { costOfDraft } from '../write/draft.ts';
import { estimateContent } from '../write/estimate.ts';
import { findEditHref } from './compose-view.ts';
import { listPage, paginate } from '../../../admin-ui/list-pages.ts';
import { slugs, contentTabs } from './content-pages.ts';
import { formatEstimate, formatSpend } from '../write/estimate.ts';

const perPage = 50;

const badges: Readonly<Record<ItemStatus, { readonly text: string; readonly kind: string }>> = {
  waiting: { text: 'Not started', kind: 'info' },
  pending: { text: 'Waiting', kind: 'info' },
  processing: { text: 'Writing', kind: 'warning' },
  completed: { text: 'Finished', kind: 'success' },
  failed: { text: 'Failed', kind: 'error' },
  cancelled: { text: 'Cancelled', kind: 'info' },
};

/** The data of `svc/content-batch`. */
export async function batchView(
  writer: ContentWriter,
  batch: Batch,
  request: AdminRequest,
): Promise<Record<string, unknown>> {
  const { host } = writer;
  const { template, post, mapping, read_pages: readPages } = batch.settings;
  const progress = await batchProgress(writer, batch, request);
  const isDraft = batch.status === 'draft';
  const column = (name: 'topic' | 'keywords' | 'instructions' | 'category', label: string) => ({
    id: `map-${name}`,
    name,
    label,
    type: 'select',
    value: mapping?.[name] ?? '',
    options: [
      ...(name === 'topic' ? [] : [{ value: '', label: 'None' }]),
      ...(mapping?.columns ?? []).map((value) => ({ value, label: value })),
    ],
  });
  return {
    tabs: contentTabs(host, 'batch'),
    id: batch.id,
    label: batch.label,
    isDraft,
    estimate: isDraft ? await estimateOf(writer, batch, progress.total) : null,
    idFields: { id: batch.id },
    facts: [
      { name: 'Template', value: template.name },
      {
        name: 'Sections',
        value: enabledParts(template)
          .map((part) => partLabels[part])
          .join(', '),
      },
      { name: 'Output', value: await describeOutput(writer, batch) },
      ...(post.category === '' ? [] : [{ name: 'Category', value: post.category }]),
      ...(readPages ? [{ name: 'Source', value: 'The page of each entry' }] : []),
      { name: 'Created', value: formatDate(batch.createdAt, 'dateTime', await host.site.timezone()) },
    ],
    mapping:
      isDraft && mapping !== null
        ? [
            column('topic', 'Topic'),
            column('keywords', 'Keywords'),
            column('instructions', 'Instructions'),
            column('category', 'Category'),
          ]
        : null,
    ...progress,
    pagination: paginate({ ...progress, query: { id: String(batch.id) } }),
    runsHref: host.admin.url(slugs.runs),
  };
}

export interface BatchProgress {
  readonly total: number;
  readonly page: number;
  readonly pages: number;
  readonly finished: number;
  readonly succeeded: number;
  readonly isRunning: boolean;
  readonly failed: number;
  readonly summary: string;
  readonly spent: string;
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

/** The progress and one page of items. The page polls this. */
export async function batchProgress(
  writer: ContentWriter,
  batch: Batch,
  request: Pick<AdminRequest, 'query' | 'form'>,
): Promise<BatchProgress> {
  const { runs } = writer;
  const totals = (await runs.totals([batch.id])).get(batch.id) as BatchTotals;
  const { counts, total } = totals;
  const { page, pages, ...range } = listPage('page' in request.form ? request.form : request.query, total, perPage);
  const items = await runs.items(batch.id, range);
  // Cancelled items stay gray.
  const finished = counts.completed + counts.failed;
  const summary = [
    `${formatNumber(counts.completed)} of ${formatNumber(total)} finished`,
    ...(counts.failed > 0 ? [`${formatNumber(counts.failed)} failed`] : []),
    ...(counts.cancelled > 0 ? [`${formatNumber(counts.cancelled)} cancelled`] : []),
    ...(counts.processing > 0 ? [`${formatNumber(counts.processing)} in progress`] : []),
  ].join(', ');
  return {
    total,
    page,
    pages,
    finished,
    succeeded: counts.completed,
    isRunning: batch.status === 'started' && finished + counts.cancelled < total,
    failed: counts.failed + counts.cancelled,
    summary,
    spent: formatSpend(totals),
    items: await Promise.all(items.map((item) => itemView(writer, item))),
  };
}

async function itemView(writer: ContentWriter, item: Item): Promise<Readonly<Record<string, unknown>>> {
  const cost = costOfDraft(item.draft);
  const tokens = item.draft.input_tokens + item.draft.output_tokens;
  return {
    id: item.id,
    topic: item.topic,
    title: item.draft.title ?? '',
    badge: badges[item.status],
    message: item.message,
    cost: tokens === 0 ? '' : `${formatCount(tokens, 'token')}${cost === null ? '' : `, ${formatMoney(cost)}`}`,
    postHref: item.postId === null ? null : await findEditHref(writer, item.postId),
    textHref:
      item.status === 'completed' && item.postId === null
        ? `${writer.host.admin.url(slugs.write)}?text=${item.uuid}`
        : null,
    mayRetry: item.status === 'failed' || item.status === 'cancelled',
    retryFields: { id: item.batchId, item: item.id },
  };
}

async function describeOutput({ host }: ContentWriter, { settings: { post } }: Batch): Promise<string> {
  const type = host.content.postType(post.type)?.singularLabel ?? post.type;
  const labels = {
    none: 'Text without a post',
    draft: `Draft (${type})`,
    pending: `Pending review (${type})`,
    publish: `Published (${type})`,
    schedule: `Scheduled (${type})`,
  };
  if (post.save !== 'schedule' || post.schedule_at === null) return labels[post.save];
  return (
    `${labels.schedule}, from ${formatDate(post.schedule_at, 'dateTime', await host.site.timezone())}, then ` +
    `every ${formatCount(post.interval_minutes, 'minute')}`
  );
}

async function estimateOf(writer: ContentWriter, batch: Batch, total: number): Promise<string> {
  const [first] = await writer.runs.items(batch.id, { limit: 1, offset: 0 });
  if (!first) return '';
  try {
    return formatEstimate(await estimateContent(writer, batch.settings.template, first.input), total);
  } catch {
    return 'Connect a provider to see an estimate.';
  }
}
