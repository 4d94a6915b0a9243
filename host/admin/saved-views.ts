import { restError, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminRequest, OptionsApi, RestError } from '#plugin-api';

/** Filters, sorting and page size of a list under a name. */
export interface SavedView {
  readonly name: string;
  /** The query of the list, without `?`. */
  readonly query: string;
}

/** Saved views of a user by the slug of their page. */
type ViewsOfUser = Readonly<Record<string, readonly SavedView[]>>;

/** Where the saved views of users are kept. */
export interface SavedViews {
  list(userId: number, page: string): Promise<readonly SavedView[]>;
  /** Replaces the views of a page by what `edit` returns of them. It runs again if another request changed them meanwhile. */
  change(userId: number, page: string, edit: (views: readonly SavedView[]) => readonly SavedView[]): Promise<void>;
  /** Of a user who was deleted. */
  forget(userId: number): Promise<unknown>;
}

const maxViews = 12;
const maxName = 40;
const maxQuery = 1_000;
/** Each loses to another request that stored its change. */
const maxTries = 20;
/** Parameters that say which part of the list is shown, or what was done on the page. */
const passing = new Set(['page', 'before', 'action', '_nonce']);

/** One option per user, which is read at the first list that the user opens. */
export function createSavedViews(
  options: Pick<OptionsApi, 'get' | 'add' | 'update' | 'compareAndSet' | 'delete'>,
): SavedViews {
  const nameOf = (userId: number): string => `admin_views_${String(userId)}`;
  return {
    list: async (userId, page) => (await options.get<ViewsOfUser>(nameOf(userId), {}))[page] ?? [],
    async change(userId, page, edit) {
      const name = nameOf(userId);
      let stored: ViewsOfUser | null = null;
      for (let tries = 0; tries < maxTries; tries += 1) {
        stored = await options.get<ViewsOfUser | null>(name, null);
        const next = { ...stored, [page]: edit(stored?.[page] ?? []) };
        if (
          stored === null
            ? await options.add(name, next, { autoload: false })
            : await options.compareAndSet(name, stored, next)
        )
          return;
      }
      // A filter makes the read value differ from the stored one, so nothing can be compared.
      await options.update(name, { ...stored, [page]: edit(stored?.[page] ?? []) }, { autoload: false });
    },
    forget: (userId) => options.delete(nameOf(userId)),
  };
}

/** The query without what is not part of a view, in the order of its names, so that equal views have equal texts. */
export function viewQuery(query: string): string {
  const parameters = new URLSearchParams(
    [...new URLSearchParams(query)].filter(([name, value]) => value !== '' && !passing.has(name)),
  );
  parameters.sort();
  return parameters.toString();
}

/** Data for the partial `admin/list-views`. @param query of the shown page, without `?` */
export function showViews(views: readonly SavedView[], query: string): Record<string, unknown> {
  const shown = viewQuery(query);
  return {
    query: shown,
    items: views.map((view) => ({ name: view.name, href: `?${view.query}`, isCurrent: view.query === shown })),
    current: views.find((view) => view.query === shown) ?? null,
    canSave: shown !== '' && shown.length <= maxQuery && views.every((view) => view.query !== shown),
    maxName,
  };
}

/** Actions that every page has, for its list. */
export const viewActions: Readonly<
  Record<string, (store: SavedViews, page: string, request: AdminRequest) => Promise<AdminActionResult>>
> = {
  'admin:save-view': async (store, page, { form, user }) => {
    const view = readView(form);
    await store.change(user.id, page, (views) => {
      const others = views.filter(({ name }) => name !== view.name);
      if (others.length >= maxViews)
        throw invalid(`A list has at most ${String(maxViews)} saved views. Delete one of them first.`);
      return [...others, view];
    });
    return { ...withNotice('success', `View "${view.name}" saved.`), redirect: `${page}?${view.query}` };
  },
  'admin:delete-view': async (store, page, { form, user }) => {
    const deleted = (await store.list(user.id, page)).find(({ name }) => name === form['name']);
    if (!deleted) throw invalid('This view no longer exists. Reload the page.');
    await store.change(user.id, page, (views) => views.filter(({ name }) => name !== deleted.name));
    const undo = { action: 'admin:save-view', fields: { ...deleted } };
    const notice = { kind: 'success', text: `View "${deleted.name}" deleted.`, undo } as const;
    return { notice, redirect: `${page}?${deleted.query}` };
  },
};

function readView(form: AdminRequest['form']): SavedView {
  const text = (name: string): string => (typeof form[name] === 'string' ? form[name].trim() : '');
  const view = { name: text('name'), query: viewQuery(text('query')) };
  if (view.name === '' || view.name.length > maxName)
    throw invalid(`Enter a name of at most ${String(maxName)} characters for the view.`);
  if (view.query === '') throw invalid('Set a filter, a sorting or a page size first. The view saves them.');
  if (view.query.length > maxQuery)
    throw invalid('The filters of this list are too long to be saved. Remove some of them.');
  return view;
}

function invalid(message: string): RestError {
  return restError(400, 'rest_invalid_param', message);
}
