import { formatCount, formatNumber, type HostApi } from '#plugin-api';
import { itemStates, type Item, type ItemCounts, type ItemState } from '../queue/item.ts';
import type { Run } from '../runs/run-store.ts';
import type { TaskSource } from '../tasks/task.ts';

interface Badge {
  readonly text: string;
  readonly kind?: 'success' | 'warning' | 'error' | 'info';
}

const kinds: Readonly<Record<ItemState, NonNullable<Badge['kind']> | undefined>> = {
  pending: undefined,
  processing: 'info',
  completed: 'success',
  failed: 'error',
  cancelled: 'warning',
};
export const stateLabels: Readonly<Record<ItemState, string>> = {
  pending: 'Waiting',
  processing: 'In progress',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

export function itemBadge({ state, attempts }: Pick<Item, 'state' | 'attempts'>): Badge {
  const kind = kinds[state];
  return state === 'pending' && attempts > 0
    ? { text: 'Waiting for retry', kind: 'warning' }
    : { text: stateLabels[state], ...(kind && { kind }) };
}

export function taskBadge(status: 'active' | 'paused'): Badge {
  return status === 'active' ? { text: 'Active', kind: 'success' } : { text: 'Paused', kind: 'warning' };
}

export const taskStates = [
  { name: 'active', label: 'Active' },
  { name: 'paused', label: 'Paused' },
] as const;

export const namedSchedules = [
  { value: '', label: 'Manually' },
  { value: 'hourly', label: 'Hourly' },
  { value: 'twicedaily', label: 'Twice a day' },
  { value: 'daily', label: 'Daily' },
  { value: 'weekly', label: 'Weekly' },
] as const;

export function scheduleLabel(schedule: string): string {
  return namedSchedules.find(({ value }) => value === schedule)?.label ?? schedule;
}

/** @param content for the labels of post types and statuses */
export function sourceLabel(
  source: TaskSource,
  content: Pick<HostApi['content'], 'postType' | 'postStatuses'>,
): string {
  switch (source.kind) {
    case 'list':
      return `List (${formatCount(source.items.length, 'line')})`;
    case 'csv':
      return 'CSV';
    case 'rss':
      return `Feed ${source.url}`;
    case 'posts':
      return [
        content.postType(source.post_type)?.label ?? source.post_type,
        source.status === 'any' ? 'any status' : statusLabel(source.status, content),
        ...(source.search === '' ? [] : [`containing "${source.search}"`]),
      ].join(', ');
  }
}

export function statusLabel(status: string, content: Pick<HostApi['content'], 'postStatuses'>): string {
  return content.postStatuses().find(({ name }) => name === status)?.label ?? status;
}

/** For the progress bar. */
export function summarizeProgress(counts: ItemCounts): {
  readonly total: number;
  readonly done: number;
  readonly succeeded: number;
  readonly open: number;
  readonly text: string;
} {
  const total = itemStates.reduce((sum, state) => sum + counts[state], 0);
  const open = counts.pending + counts.processing;
  const parts = [
    `${formatNumber(total - open)} of ${formatNumber(total)} finished`,
    ...(counts.failed > 0 ? [`${formatNumber(counts.failed)} failed`] : []),
    ...(counts.cancelled > 0 ? [`${formatNumber(counts.cancelled)} cancelled`] : []),
  ];
  // Cancelled items stay gray.
  return { total, open, done: counts.completed + counts.failed, succeeded: counts.completed, text: parts.join(', ') };
}

export function runMessage({ state, message }: Run): string {
  return state === 'running' ? 'Collecting items.' : message;
}

/** The title of a feed entry or post; otherwise the target. */
export function itemTitle({ target, input }: Pick<Item, 'target' | 'input'>): string {
  const title = input['title'];
  const text = typeof title === 'string' && title.trim() !== '' ? title : target;
  return text.length > 120 ? `${text.slice(0, 119)}…` : text || '(empty)';
}
