import { formatMoney, type AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { contentOf } from '../content.ts';
import { enabledParts, partLabels } from '../templates/template.ts';
import type { Batch, BatchTotals, Item, ItemStatus } from '../runs/item.ts';
import { costOfDraft } from '../write/draft.ts';
import { estimateContent } from '../write/estimate.ts';
import { postHref } from './compose-view.ts';
import { pageOf, pagesOf, slugs, tabsOf } from './content-pages.ts';
import { estimateWords, spentWords } from './estimate-words.ts';
import { localOf } from './post-form.ts';

const perPage = 50;

const badges: Readonly<Record<ItemStatus, { readonly text: string; readonly kind: string }>> = {
  waiting: { text: 'not begun', kind: 'info' },
  pending: { text: 'waiting', kind: 'info' },
  processing: { text: 'being written', kind: 'warning' },
  completed: { text: 'done', kind: 'success' },
  failed: { text: 'failed', kind: 'error' },
  cancelled: { text: 'cancelled', kind: 'info' },
};

/** The data of `svc/content-batch`. */
export async function batchView(
  context: ServiceContext,
  batch: Batch,
  request: AdminRequest,
): Promise<Record<string, unknown>> {
  const { host } = context;
  const { template, post, mapping, read_pages: readPages } = batch.settings;
  const progress = await batchProgress(context, batch, request);
  const isDraft = batch.status === 'draft';
  const column = (name: 'topic' | 'keywords' | 'instructions', label: string) => ({
    id: `map-${name}`,
    name,
    label,
    type: 'select',
    value: mapping?.[name] ?? '',
    options: [
      ...(name === 'topic' ? [] : [{ value: '', label: 'No column' }]),
      ...(mapping?.columns ?? []).map((value) => ({ value, label: value })),
    ],
  });
  return {
    tabs: tabsOf(host, 'batch'),
    id: batch.id,
    label: batch.label,
    isDraft,
    estimate: isDraft ? await estimateOf(context, batch, progress.total) : null,
    idFields: { id: batch.id },
    facts: [
      { name: 'Template', value: template.name },
      {
        name: 'Parts',
        value: enabledParts(template)
          .map((part) => partLabels[part])
          .join(', '),
      },
      { name: 'Each text', value: await saveWords(context, batch) },
      ...(post.category === '' ? [] : [{ name: 'Category', value: post.category }]),
      ...(readPages ? [{ name: 'Source', value: 'its page is read first' }] : []),
      { name: 'Made', value: localOf(batch.createdAt, await host.site.timezone()) },
    ],
    mapping:
      isDraft && mapping !== null
        ? [column('topic', 'Topic'), column('keywords', 'Keywords'), column('instructions', 'Wishes')]
        : null,
    ...progress,
    pagination: pagesOf({
      page: pageOf(request),
      total: progress.total,
      size: perPage,
      href: (page) => `${host.admin.url(slugs.batch)}?id=${String(batch.id)}&page=${String(page)}`,
    }),
    page: pageOf(request),
    runsHref: host.admin.url(slugs.runs),
  };
}

export interface BatchProgress {
  readonly total: number;
  readonly finished: number;
  readonly isRunning: boolean;
  readonly failed: number;
  readonly words: string;
  readonly spent: string;
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

/** How far it is, and the items of one page; what the page asks for again and again. */
export async function batchProgress(
  context: ServiceContext,
  batch: Batch,
  request: Pick<AdminRequest, 'query' | 'form'>,
): Promise<BatchProgress> {
  const { runs } = contentOf(context);
  const page = typeof request.form['page'] === 'string' ? pageOf({ query: request.form }) : pageOf(request);
  const totals = (await runs.totals([batch.id])).get(batch.id) as BatchTotals;
  const items = await runs.items(batch.id, { limit: perPage, offset: (page - 1) * perPage });
  const { counts, total } = totals;
  const finished = counts.completed + counts.failed + counts.cancelled;
  const words = [
    `${String(counts.completed)} of ${String(total)} done`,
    ...(counts.failed > 0 ? [`${String(counts.failed)} failed`] : []),
    ...(counts.cancelled > 0 ? [`${String(counts.cancelled)} cancelled`] : []),
    ...(counts.processing > 0 ? [`${String(counts.processing)} being written`] : []),
  ].join(', ');
  return {
    total,
    finished,
    isRunning: batch.status === 'started' && finished < total,
    failed: counts.failed + counts.cancelled,
    words,
    spent: spentWords(totals),
    items: await Promise.all(items.map((item) => itemView(context, item))),
  };
}

async function itemView(context: ServiceContext, item: Item): Promise<Readonly<Record<string, unknown>>> {
  const cost = costOfDraft(item.draft);
  const tokens = item.draft.input_tokens + item.draft.output_tokens;
  return {
    id: item.id,
    topic: item.topic,
    title: item.draft.title ?? '',
    badge: badges[item.status],
    message: item.message,
    cost:
      tokens === 0 ? '' : `${tokens.toLocaleString('en-GB')} tokens${cost === null ? '' : `, ${formatMoney(cost)}`}`,
    postHref: item.postId === null ? null : await postHref(context, item.postId),
    textHref:
      item.status === 'completed' && item.postId === null
        ? `${context.host.admin.url(slugs.write)}?text=${item.uuid}`
        : null,
    mayRetry: item.status === 'failed' || item.status === 'cancelled',
    retryFields: { id: item.batchId, item: item.id },
  };
}

async function saveWords({ host }: ServiceContext, { settings: { post } }: Batch): Promise<string> {
  const type = host.content.postType(post.type)?.singularLabel ?? post.type;
  const words = {
    none: 'is kept here',
    draft: `becomes a draft (${type})`,
    pending: `waits for review (${type})`,
    publish: `is published (${type})`,
    schedule: '',
  };
  if (post.save !== 'schedule' || post.schedule_at === null) return words[post.save];
  return `is published (${type}), the first at ${localOf(post.schedule_at, await host.site.timezone())}, then every ${String(post.interval_minutes)} minutes`;
}

async function estimateOf(context: ServiceContext, batch: Batch, total: number): Promise<string> {
  const [first] = await contentOf(context).runs.items(batch.id, { limit: 1, offset: 0 });
  if (!first) return '';
  try {
    return estimateWords(await estimateContent(context, batch.settings.template, first.input), total);
  } catch {
    return 'Nothing can be said before a provider is set up.';
  }
}
