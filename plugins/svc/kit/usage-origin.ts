import type { AbilityCall, RestRequest } from '#plugin-api';
import { callerOf, type Caller } from './caller.ts';
import { currentDryRun } from './dry-run.ts';

/** Where a call came from, for the usage ledger, budgets and the scopes of keys. */
export interface UsageOrigin {
  /** `rest`, or the id of the module that made the call. */
  readonly module: string;
  /** For example `/generate`; null outside REST. */
  readonly route: string | null;
  readonly botId: number | null;
  /** What the call was for, at most 100 characters, for example `automation:5:230`. Costs are summed by reference. */
  readonly reference?: string | null;
  /** The key that the request was made with (`callerOf`): its scopes limit the call. Left out: a call of the site itself. */
  readonly caller?: Caller | undefined;
  /** Id of the signed-in user that the call was made for. Left out or 0: a guest or the site itself. */
  readonly userId?: number | undefined;
  /** Roles that this user has now: filled in when the call is made. */
  readonly roles?: readonly string[] | undefined;
  /** Id of the plugin that requested the call. Left out: the service. */
  readonly plugin?: string | undefined;
}

/** The origin of a call that a route with a key makes. */
export function restOrigin(request: Pick<RestRequest, 'user' | 'plugin'>, route: string): UsageOrigin {
  return { module: 'rest', route, botId: null, caller: callerOf(request), ...askerOf(request) };
}

/** The origin of a call that an ability makes: budgets and the scopes of the key that it was called with apply. */
export function abilityOrigin({ request, ...call }: Omit<AbilityCall, 'signal'>, module: string): UsageOrigin {
  const caller = request && callerOf(request);
  return { module, route: request?.route ?? null, botId: null, caller, ...askerOf(call) };
}

/** The service's own slug: what it dispatches itself, such as dry runs, has no plugin. */
const service = 'svc';

function askerOf({ user, plugin }: Pick<AbilityCall, 'user' | 'plugin'>): Pick<UsageOrigin, 'userId' | 'plugin'> {
  return { userId: user.id, plugin: plugin === service ? currentDryRun()?.plugin : plugin };
}
