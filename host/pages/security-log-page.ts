import { parseId, type AdminPageBody, type UsersApi, withNotice } from '#plugin-api';
import { readQuery } from './forms.ts';

export interface SecurityLogPageDependencies {
  readonly securityLog: {
    list(query: { readonly limit: number; readonly before?: number; readonly event?: string }): Promise<
      readonly {
        readonly position: number;
        readonly at: number;
        readonly event: string;
        readonly userId: number;
        readonly ip: string;
        readonly details: Readonly<Record<string, string | number | boolean | null>>;
      }[]
    >;
    events(): Promise<readonly string[]>;
    verify(): Promise<{ readonly entries: number; readonly brokenAt: number | null }>;
  };
  readonly users: Pick<UsersApi, 'get'>;
}

const perPage = 50;

/** Sign-ins, users, roles, keys, plugins and exports, newest first, with a check of the chain of hashes. */
export function createSecurityLogPage({ securityLog, users }: SecurityLogPageDependencies): AdminPageBody {
  const nameOf = async (id: number): Promise<string> =>
    id === 0 ? '' : ((await users.get(id))?.login ?? `User ${id}`);
  return {
    render: async (request) => {
      const event = readQuery(request, 'event');
      const before = parseId(readQuery(request, 'before'), Number.MAX_SAFE_INTEGER);
      const [found, events] = await Promise.all([
        securityLog.list({
          limit: perPage + 1,
          ...(event !== '' && { event }),
          ...(before > 0 && { before }),
        }),
        securityLog.events(),
      ]);
      const shown = found.slice(0, perPage);
      const names = new Map<number, string>();
      for (const { userId, details } of shown)
        for (const id of [userId, details['user']])
          if (typeof id === 'number' && !names.has(id)) names.set(id, await nameOf(id));
      const last = shown.at(-1);
      return {
        template: 'admin/pages/security-log',
        data: {
          event,
          options: [
            { value: '', label: 'All events' },
            ...events.map((value) => ({ value, label: eventLabel(value) })),
          ],
          entries: shown.map((entry) => ({
            ...entry,
            label: eventLabel(entry.event),
            user: names.get(entry.userId),
            facts: factsOf(entry.details, names),
          })),
          older: found.length > perPage && last ? { event, before: last.position } : null,
        },
      };
    },
    actions: {
      async verify() {
        const { entries, brokenAt } = await securityLog.verify();
        if (brokenAt === null)
          return withNotice('success', `The log is complete and unchanged: ${entries} entries checked.`);
        const text = `Entry ${brokenAt} was changed or removed, or the log was written with another SECRET_KEY.`;
        return withNotice('error', text);
      },
    },
  };
}

/** `sign_in_failed` -> `Sign in failed`. */
function eventLabel(event: string): string {
  const text = event.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `{ user: 3, role: 'editor' }` -> `User: grace`, `Role: editor`. */
function factsOf(details: Readonly<Record<string, unknown>>, names: ReadonlyMap<number, string>) {
  return Object.entries(details).map(([name, value]) => ({
    name: eventLabel(name),
    value: (name === 'user' && names.get(Number(value))) || String(value),
  }));
}
