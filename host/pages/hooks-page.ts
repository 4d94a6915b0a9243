import { listTabs, type AdminPageBody } from '#plugin-api';
import { readQuery } from './forms.ts';

export interface HookRow {
  readonly name: string;
  readonly filters: number;
  readonly actions: number;
  readonly callbacks: readonly {
    readonly priority: number;
    readonly kind: string;
    readonly owner: string;
    readonly callback: string;
    readonly position: string | null;
    readonly acceptedArgs: number | null;
  }[];
}

export interface HooksPageDependencies {
  /** Hooks of this process whose name, owner, callback or position contains the text. An empty text finds all. */
  readonly find: (search: string) => readonly HookRow[];
}

/** More would make a page that no browser shows quickly: names can contain data. */
const maxShown = 500;

/** Every hook that ran or has callbacks, with these in order of execution. */
export function createHooksPage({ find }: HooksPageDependencies): AdminPageBody {
  return {
    render: (request) => {
      const search = readQuery(request, 's');
      const found = find(search);
      const kinds = {
        '': found,
        used: found.filter(({ callbacks }) => callbacks.length > 0),
        unused: found.filter(({ callbacks }) => callbacks.length === 0),
      };
      const asked = readQuery(request, 'callbacks');
      const kind = asked === 'used' || asked === 'unused' ? asked : '';
      const hooks: readonly HookRow[] = kinds[kind];
      return Promise.resolve({
        template: 'admin/pages/hooks',
        data: {
          search,
          fields: { callbacks: kind },
          tabs: listTabs({ filter: 'callbacks', current: kind, search }, [
            { name: '', label: 'All', count: found.length },
            { name: 'used', label: 'With callbacks', count: kinds.used.length },
            { name: 'unused', label: 'Without callbacks', count: kinds.unused.length },
          ]),
          hooks: hooks.slice(0, maxShown),
          count: hooks.length,
          isCut: hooks.length > maxShown,
          callbacks: hooks.reduce((sum, hook) => sum + hook.callbacks.length, 0),
        },
      });
    },
  };
}
