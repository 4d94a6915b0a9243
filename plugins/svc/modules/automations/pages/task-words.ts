import { itemStates, type Item, type ItemCounts, type ItemState } from '../queue/item.ts';
import type { Run } from '../runs/run.ts';
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
  processing: 'Under way',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

export function itemBadge({ state, attempts }: Pick<Item, 'state' | 'attempts'>): Badge {
  const kind = kinds[state];
  return state === 'pending' && attempts > 0
    ? { text: 'Waits to be tried again', kind: 'warning' }
    : { text: stateLabels[state], ...(kind && { kind }) };
}

export function taskBadge(status: 'active' | 'paused'): Badge {
  return status === 'active' ? { text: 'Active', kind: 'success' } : { text: 'Paused', kind: 'warning' };
}

export const namedSchedules = [
  { value: '', label: 'Only when I say so' },
  { value: 'hourly', label: 'Once an hour' },
  { value: 'twicedaily', label: 'Twice a day' },
  { value: 'daily', label: 'Once a day' },
  { value: 'weekly', label: 'Once a week' },
] as const;

export function scheduleWords(schedule: string): string {
  return namedSchedules.find(({ value }) => value === schedule)?.label ?? `${schedule} (UTC)`;
}

export function sourceWords(source: TaskSource): string {
  switch (source.kind) {
    case 'list':
      return source.items.length === 1
        ? 'A list of 1 line'
        : `A list of ${source.items.length.toLocaleString('en-GB')} lines`;
    case 'csv':
      return 'CSV';
    case 'rss':
      return `The feed ${source.url}`;
    case 'posts':
      return `Posts (${source.post_type}, ${source.status === 'any' ? 'any status' : source.status}${source.search === '' ? '' : `, with "${source.search}"`})`;
  }
}

/** Of a bar: what is finished of all there is. */
export function progressOf(counts: ItemCounts): {
  readonly total: number;
  readonly done: number;
  readonly open: number;
  readonly text: string;
} {
  const total = itemStates.reduce((sum, state) => sum + counts[state], 0);
  const open = counts.pending + counts.processing;
  const parts = [
    `${(total - open).toLocaleString('en-GB')} of ${total.toLocaleString('en-GB')} done`,
    ...(counts.failed > 0 ? [`${counts.failed.toLocaleString('en-GB')} failed`] : []),
    ...(counts.cancelled > 0 ? [`${counts.cancelled.toLocaleString('en-GB')} cancelled`] : []),
  ];
  return { total, open, done: total - open, text: parts.join(', ') };
}

export function runWords({ state, message }: Run): string {
  return state === 'running' ? 'Collecting now.' : message;
}

/** What the page calls an item: a feed's entry and a post have titles. */
export function itemTitle({ target, input }: Pick<Item, 'target' | 'input'>): string {
  const title = input['title'];
  const words = typeof title === 'string' && title.trim() !== '' ? title : target;
  return words.length > 120 ? `${words.slice(0, 119)}…` : words || '(nothing)';
}
