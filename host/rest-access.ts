import { clientNetwork, createMinuteCounter, RestError, retryAfter, undoAll } from '#plugin-api';
import type { Clock, HooksApi, OptionsApi, RestRequest, Undo } from '#plugin-api';
import type { Database } from './database/database.ts';
import { changedOptionName } from './options/cached-options.ts';
import { HostRequest } from './rest/host-request.ts';
import { allowedOriginsOption, requestLimitOption } from './site-settings.ts';

export interface AllowedOriginsDependencies {
  readonly options: Pick<OptionsApi, 'get'>;
  readonly hooks: Pick<HooksApi, 'addAction'>;
  readonly database: Pick<Database, 'listen' | 'isUnavailable'>;
  readonly clock: Pick<Clock, 'after' | 'now'>;
}

export interface AllowedOrigins {
  /** Runs for every REST request with an `Origin` header: a lookup in a set. */
  isAllowed(origin: string): boolean;
  /** Reads the setting and follows its changes: at once in this process, within a second for other processes. */
  follow(): Promise<Undo>;
}

/** The setting `rest_allowed_origins`, cached for synchronous lookup. */
export function createAllowedOrigins(dependencies: AllowedOriginsDependencies): AllowedOrigins {
  let allowed: ReadonlySet<string> = new Set();
  return {
    isAllowed: (origin) => allowed.has(origin),
    follow: () =>
      followOption(dependencies, allowedOriginsOption, (origins) => {
        allowed = new Set(Array.isArray(origins) ? origins.map(String) : []);
      }),
  };
}

export interface AnonymousLimitDependencies extends AllowedOriginsDependencies {
  readonly hooks: Pick<HooksApi, 'addAction' | 'addFilter'>;
}

/** Networks counted separately per minute. Further ones share a counter, so a distributed flood cannot fill the memory. */
const maxNetworks = 100_000;

/**
 * The setting `rest_requests_per_minute`: how many anonymous REST requests an address may send per clock minute and node.
 * With 0 there is no limit and no filter. Routes with their own key are left to their plugins' limits. Counters live in
 * memory: counting must be cheaper than the requests it refuses.
 */
export function createAnonymousLimit({ hooks, ...sources }: AnonymousLimitDependencies): {
  follow(): Promise<Undo>;
} {
  const count = createMinuteCounter({ clock: sources.clock, maxKeys: maxNetworks });
  let perMinute = 0;
  let undo: Undo | null = null;

  const check = (result: unknown, _rest: unknown, request: RestRequest): unknown => {
    if (result !== null || !isCounted(request)) return result;
    const { calls, seconds } = count(clientNetwork(request.ip));
    return calls > perMinute ? tooManyRequests(seconds) : result;
  };
  return {
    follow: () =>
      followOption({ hooks, ...sources }, requestLimitOption, (limit) => {
        perMinute = Number(limit) || 0;
        if (perMinute > 0) undo ??= hooks.addFilter('rest_pre_dispatch', check as never, 0);
        else {
          undo?.();
          undo = null;
        }
      }),
  };
}

/** Milliseconds after which a failed read is repeated. */
const rereadDelay = 5_000;

/** Calls `apply` with the option's value, now and after each change by any process, as soon as it can be read. */
export async function followOption(
  { options, hooks, database, clock }: AllowedOriginsDependencies,
  name: string,
  apply: (value: unknown) => void,
): Promise<Undo> {
  const read = async (): Promise<void> => apply(await options.get<unknown>(name));
  const readIfChanged = (changed: unknown): Promise<void> | undefined => (changed === name ? read() : undefined);
  let undoRetry: Undo | undefined;
  const reread = (): void => {
    undoRetry?.();
    void read().catch((error: unknown) => {
      if (database.isUnavailable(error)) undoRetry = clock.after(rereadDelay, reread);
    });
  };
  const undos = [
    () => undoRetry?.(),
    ...['added_option', 'updated_option', 'deleted_option'].map((action) => hooks.addAction(action, readIfChanged)),
    // The options' own listener runs first and drops the cached value, so this read sees the new one.
    await database.listen(
      'options',
      (payload) => {
        if (changedOptionName(payload) === name) reread();
      },
      reread,
    ),
  ];
  await read();
  return undoAll(undos);
}

/** Anonymous requests over HTTP to routes without their own key. */
function isCounted(request: RestRequest): boolean {
  if (request.user.id > 0 || request.ip === '') return false;
  return !(request instanceof HostRequest) || request.match?.endpoint.definition.authenticate === undefined;
}

function tooManyRequests(seconds: number): RestError {
  const wait = `${seconds} second${seconds === 1 ? '' : 's'}`;
  return new RestError({
    code: 'rest_rate_limited',
    status: 429,
    headers: retryAfter(seconds * 1000),
    message: `Too many requests from your address. Wait ${wait} and try again, or sign in.`,
  });
}
