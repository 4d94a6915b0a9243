import { momentOf } from '#plugin-api';
import type { DeliveryFilter, DeliveryState } from '../delivery.ts';

export const states: readonly { readonly value: DeliveryState; readonly label: string }[] = [
  { value: 'pending', label: 'Pending' },
  { value: 'delivering', label: 'In flight' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
];

const names = ['state', 'event', 'endpoint', 'since', 'until'] as const;

/** Filters of the list, as in the query string. Times are local minutes of the site. */
export type DeliveryLogQuery = Readonly<Partial<Record<(typeof names)[number], string>>>;

/** Reads a query string or a form. Ignores invalid filters, so that any URL shows a page. */
export function readDeliveryLogQuery(given: Readonly<Record<string, unknown>>, timezone: string): DeliveryLogQuery {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = typeof given[name] === 'string' ? given[name].trim() : '';
      const isKnown =
        name === 'state'
          ? states.some((state) => state.value === value)
          : name === 'since' || name === 'until'
            ? momentOf(value, timezone) !== null
            : value !== '';
      return isKnown ? [[name, value.slice(0, 200)]] : [];
    }),
  );
}

export function toDeliveryFilter(
  { state, event, endpoint, since, until }: DeliveryLogQuery,
  timezone: string,
): DeliveryFilter {
  const [from, to] = [momentOf(since ?? '', timezone), momentOf(until ?? '', timezone)];
  return {
    ...(state !== undefined && { state: state as DeliveryState }),
    ...(event !== undefined && { event }),
    ...(endpoint !== undefined && { endpointId: endpoint }),
    ...(from !== null && { since: from }),
    // Up to the end of the minute.
    ...(to !== null && { until: to + 59_999 }),
  };
}
