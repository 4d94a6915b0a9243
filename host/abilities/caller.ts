import {
  identifyCaller,
  RestError,
  restError,
  type Ability,
  type AbilityCaller,
  type HooksApi,
  type RestRequest,
  type User,
} from '#plugin-api';

declare module '#plugin-api' {
  interface FilterMap {
    /**
     * Names the caller of `wp-abilities/v1` or of the MCP server that sent a key of a plugin as `Authorization: Bearer`.
     * Throw a RestError to refuse it.
     */
    ability_caller: (
      caller: AbilityCaller | null,
      request: RestRequest,
      route: 'abilities' | 'mcp',
    ) => AbilityCaller | null | Promise<AbilityCaller | null>;
  }
}

export type FindCaller = (request: RestRequest) => Promise<AbilityCaller>;

/** Finds the caller of a request once: who signed in, or who has a key. Otherwise the visitor, with id 0. */
export function createFindCaller(hooks: Pick<HooksApi, 'applyFiltersAsync'>, route: 'abilities' | 'mcp'): FindCaller {
  const callers = new WeakMap<RestRequest, Promise<AbilityCaller>>();
  const find = async (request: RestRequest): Promise<AbilityCaller> => {
    if (route === 'mcp') identifyCaller({ door: 'mcp' });
    const hasKey = /^bearer /i.test(request.headers['authorization'] ?? '');
    if (request.user.id > 0 || !hasKey) return { user: request.user };
    const caller = await hooks.applyFiltersAsync('ability_caller', null, request, route);
    if (caller === null) return { user: request.user };
    identifyCaller({ userId: caller.user.id, door: route === 'mcp' ? 'mcp' : 'key' });
    return caller;
  };
  return (request) => {
    const caller = callers.get(request) ?? find(request);
    callers.set(request, caller);
    return caller;
  };
}

export function isAllowed(ability: Ability, caller: AbilityCaller): boolean {
  return caller.allows?.(ability) ?? true;
}

/**
 * Runs an ability for whom the key of the caller allows it (D34). What it names, and what only adds, runs for its user.
 *
 * @throws RestError 403 `ability_not_in_scope`, or what `run` throws
 */
export async function runAllowed<Result>(
  ability: Ability,
  caller: AbilityCaller,
  run: (user: User) => Promise<Result>,
): Promise<Result> {
  if (!isAllowed(ability, caller)) throw notInScope(ability);
  const user = ability.meta.annotations.readonly === true ? userFor(ability.name, caller) : caller.user;
  return run(user).catch((error: unknown) => {
    throw user.id !== caller.user.id && error instanceof RestError && error.status === 401
      ? notInScope(ability)
      : error;
  });
}

/** @param ability name of a read-only ability; null: none */
export function userFor(ability: string | null, caller: AbilityCaller): User {
  return caller.userFor?.(ability) ?? caller.user;
}

function notInScope({ name }: Ability): RestError {
  return restError(
    403,
    'ability_not_in_scope',
    `The key may not run the ability ${name}. Add it to the scope of the key.`,
  );
}
