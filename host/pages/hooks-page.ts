import type { AdminPageBody } from '#plugin-api';
import { queryOf } from './forms.ts';

export interface HookLine {
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
  /** Hooks of this process with the text in name, owner or callback; all for an empty text. */
  readonly find: (search: string) => readonly HookLine[];
}

/** Every hook that has callbacks, in the order they run. */
export function createHooksPage({ find }: HooksPageDependencies): AdminPageBody {
  return {
    render: (request) => {
      const search = queryOf(request, 's');
      const hooks = find(search);
      const callbacks = hooks.reduce((sum, hook) => sum + hook.callbacks.length, 0);
      return Promise.resolve({
        template: 'admin/pages/hooks',
        data: { search, hooks, count: hooks.length, callbacks },
      });
    },
  };
}
