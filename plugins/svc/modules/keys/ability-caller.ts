import { restError, type AbilityCaller, type RestRequest } from '#plugin-api';
import { isInScope, type Caller } from '../../kit/caller.ts';
import { matchesName } from '../../kit/matches-name.ts';
import type { KeyPorts } from './module.ts';
import { keysTable } from './key-tables.ts';

/** Read-only abilities that do what a route does. They ask for the route in the scope of the key themselves. */
const abilitiesOfRoutes = ['svc/search-chat-logs'];

/**
 * Lets keys call abilities (D34). A named key acts for the user who created it; the REST key, and keys of the command line, for
 * the first administrator. A destructive ability needs a named key whose scope names it. A read-only one that the scope of a
 * named key does not name, with or without `*`, runs for the visitor: it shows what everyone may see.
 *
 * @throws RestError 401, 403 or 429
 */
export async function findAbilityCaller(
  ports: KeyPorts,
  request: RestRequest,
  route: 'abilities' | 'mcp',
): Promise<AbilityCaller> {
  const key = await ports.authenticateCaller(request, route);
  const user = await findUser(ports, key);
  if (user === null)
    throw restError(
      403,
      'rest_svc_key_without_user',
      'The user who created this key does not exist any more. Create a new key.',
    );
  return {
    user,
    allows: ({ name, meta }) =>
      meta.annotations.readonly === true || meta.annotations.destructive === false || isInScope(key, { ability: name }),
    userFor: (ability) => (mayRead(key, ability) ? user : request.user),
  };
}

async function findUser({ host }: KeyPorts, { id }: Caller) {
  const row = id === 0 ? undefined : ((await host.database.knex(keysTable).where({ id }).first()) as unknown);
  const createdBy = Number((row as { created_by?: unknown } | undefined)?.created_by ?? 0);
  if (createdBy > 0) return host.users.get(createdBy);
  const [first] = await host.users.list({ role: 'administrator', limit: 1 });
  return first ?? null;
}

/** @param ability null: what no ability shows, which only `*` names */
function mayRead(key: Caller, ability: string | null): boolean {
  if (key.scopes === null) return true;
  if (ability !== null && abilitiesOfRoutes.includes(ability)) return true;
  return key.scopes.abilities.some((pattern) => pattern === '*' || (ability !== null && matchesName(pattern, ability)));
}
