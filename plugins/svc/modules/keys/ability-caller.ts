import { restError, type AbilityCaller, type RestRequest } from '#plugin-api';
import { requireScopes, type Caller } from '../../kit/caller.ts';
import type { KeyPorts } from './module.ts';
import { keysTable } from './key-tables.ts';

/**
 * Lets keys call abilities (D34). A named key acts for the user who created it; the REST key, and keys of the command line, for
 * the first administrator. A destructive ability needs a named key whose scope names it.
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
      meta.annotations.destructive === false || meta.annotations.readonly === true || isNamed(key, name),
  };
}

async function findUser({ host }: KeyPorts, { id }: Caller) {
  const row = id === 0 ? undefined : ((await host.database.knex(keysTable).where({ id }).first()) as unknown);
  const createdBy = Number((row as { created_by?: unknown } | undefined)?.created_by ?? 0);
  if (createdBy > 0) return host.users.get(createdBy);
  const [first] = await host.users.list({ role: 'administrator', limit: 1 });
  return first ?? null;
}

function isNamed(key: Caller, ability: string): boolean {
  try {
    requireScopes(key, { ability });
    return true;
  } catch {
    return false;
  }
}
