import type { DeliveryFilter, DeliveryState } from '../delivery.ts';
import { readLocalMinute } from './recorder-time.ts';

export const states: readonly { readonly value: DeliveryState; readonly label: string }[] = [
  { value: 'pending', label: 'Waiting' },
  { value: 'delivering', label: 'Under way' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
];

const names = ['state', 'event', 'endpoint', 'since', 'until'] as const;

/** What the list of deliveries is picked by, as it stands in the address. Times are local minutes of the site. */
export type RecorderQuery = Readonly<Partial<Record<(typeof names)[number], string>>>;

/** Reads an address or a form. Whatever cannot be a filter is left out, so that any address shows a page. */
export function readRecorderQuery(given: Readonly<Record<string, unknown>>, timezone: string): RecorderQuery {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = typeof given[name] === 'string' ? given[name].trim() : '';
      const isKnown =
        name === 'state'
          ? states.some((state) => state.value === value)
          : name === 'since' || name === 'until'
            ? readLocalMinute(value, timezone) !== null
            : value !== '';
      return isKnown ? [[name, value.slice(0, 200)]] : [];
    }),
  );
}

export function toDeliveryFilter(
  { state, event, endpoint, since, until }: RecorderQuery,
  timezone: string,
): DeliveryFilter {
  const [from, to] = [readLocalMinute(since ?? '', timezone), readLocalMinute(until ?? '', timezone)];
  return {
    ...(state !== undefined && { state: state as DeliveryState }),
    ...(event !== undefined && { event }),
    ...(endpoint !== undefined && { endpointId: endpoint }),
    ...(from !== null && { since: from }),
    // The whole of the minute.
    ...(to !== null && { until: to + 59_999 }),
  };
}
