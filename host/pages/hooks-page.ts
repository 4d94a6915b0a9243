import type { AdminPageBody } from '#plugin-api';
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
    readonly acceptedArgs: number | null;
  }[];
}

export interface HooksPageDependencies {
  /** Hooks of this process whose name, owner or callback contains the text. An empty text finds all. */
  readonly find: (search: string) => readonly HookRow[];
}

/** Every hook with its callbacks in order of execution. */
export function createHooksPage({ find }: HooksPageDependencies): AdminPageBody {
  return {
    render: (request) => {
      const search = readQuery(request, 's');
      const hooks = find(search);
      const callbacks = hooks.reduce((sum, hook) => sum + hook.callbacks.length, 0);
      return Promise.resolve({
        template: 'admin/pages/hooks',
        data: { search, hooks, count: hooks.length, callbacks },
      });
    },
  };
}
