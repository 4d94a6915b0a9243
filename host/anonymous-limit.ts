import { RestError } from '#plugin-api';
import type { Clock, HooksApi, OptionsApi, RestRequest, Undo } from '#plugin-api';
import type { Database } from './database/database.ts';
import { HostRequest } from './rest/request.ts';
import { requestLimitOption } from './site-settings.ts';
import { networkOf } from './users/login-limiter.ts';

export interface AnonymousLimitDependencies {
  readonly options: Pick<OptionsApi, 'get'>;
  readonly hooks: Pick<HooksApi, 'addAction' | 'addFilter'>;
  readonly database: Pick<Database, 'listen'>;
  readonly clock: Pick<Clock, 'now'>;
}

const minute = 60_000;
/** Networks counted apart in one minute; those above it share one count, so that a flood from everywhere takes no memory. */
const mostNetworks = 100_000;

/**
 * The setting `rest_requests_per_minute`: how often one address may call the REST interface without signing in, in each
 * minute of the clock, on each node. 0: as often as it likes, and then nothing is looked at. Routes with a key of their
 * own are left to the limits of their plugins. Counts are kept in memory: they must cost less than what they refuse.
 */
export function createAnonymousLimit({ options, hooks, database, clock }: AnonymousLimitDependencies): {
  follow(): Promise<void>;
} {
  const count = createCounter(clock);
  let perMinute = 0;
  let undo: Undo | null = null;

  const check = (result: unknown, _rest: unknown, request: RestRequest): unknown => {
    if (result !== null || !isCounted(request)) return result;
    const { calls, seconds } = count(networkOf(request.ip));
    return calls > perMinute ? tooMany(seconds) : result;
  };
  const read = async (): Promise<void> => {
    perMinute = Number(await options.get<unknown>(requestLimitOption)) || 0;
    if (perMinute > 0) undo ??= hooks.addFilter('rest_pre_dispatch', check as never, 0);
    else {
      undo?.();
      undo = null;
    }
  };
  const readIfChanged = (name: string): Promise<void> | undefined => (name === requestLimitOption ? read() : undefined);

  return {
    async follow() {
      for (const action of ['added_option', 'updated_option', 'deleted_option']) hooks.addAction(action, readIfChanged);
      await database.listen(
        'options',
        (payload) => void readIfChanged(nameIn(payload))?.catch(() => undefined),
        () => void read().catch(() => undefined),
      );
      await read();
    },
  };
}

/** From outside, by nobody in particular, to a route that asks for no key. */
function isCounted(request: RestRequest): boolean {
  if (request.user.id > 0 || request.ip === '') return false;
  return !(request instanceof HostRequest) || request.match?.endpoint.definition.authenticate === undefined;
}

function createCounter(
  clock: Pick<Clock, 'now'>,
): (network: string) => { readonly calls: number; readonly seconds: number } {
  const counts = new Map<string, number>();
  let window = -1;
  return (network) => {
    const now = clock.now();
    const current = Math.floor(now / minute);
    if (current !== window) {
      window = current;
      counts.clear();
    }
    const key = counts.has(network) || counts.size < mostNetworks ? network : 'others';
    const calls = (counts.get(key) ?? 0) + 1;
    counts.set(key, calls);
    return { calls, seconds: Math.max(1, Math.ceil(((current + 1) * minute - now) / 1000)) };
  };
}

function tooMany(seconds: number): RestError {
  return new RestError({
    code: 'rest_rate_limited',
    status: 429,
    headers: { 'Retry-After': String(seconds) },
    message: `Too many requests from your address. Wait ${seconds} second${seconds === 1 ? '' : 's'} and try again, or sign in.`,
  });
}

function nameIn(payload: string): string {
  try {
    return String((JSON.parse(payload) as { name?: unknown }).name);
  } catch {
    return '';
  }
}
