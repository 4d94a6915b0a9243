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
  set(userId: number, page: string, views: readonly SavedView[]): Promise<void>;
  /** Of a user who was deleted. */
  forget(userId: number): Promise<unknown>;
}

const maxViews = 12;
const maxName = 40;
const maxQuery = 1_000;
/** Parameters that say which part of the list is shown, or what was done on the page. */
const passing = new Set(['page', 'before', 'action', '_nonce']);

/** One option per user, which is read at the first list that the user opens. */
export function createSavedViews(options: Pick<OptionsApi, 'get' | 'update' | 'delete'>): SavedViews {
  const nameOf = (userId: number): string => `admin_views_${String(userId)}`;
  const read = (userId: number): Promise<ViewsOfUser> => options.get<ViewsOfUser>(nameOf(userId), {});
  return {
    list: async (userId, page) => (await read(userId))[page] ?? [],
    async set(userId, page, views) {
      await options.update(nameOf(userId), { ...(await read(userId)), [page]: views }, { autoload: false });
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
    const others = (await store.list(user.id, page)).filter(({ name }) => name !== view.name);
    if (others.length >= maxViews)
      throw invalid(`A list has at most ${String(maxViews)} saved views. Delete one of them first.`);
    await store.set(user.id, page, [...others, view]);
    return { ...withNotice('success', `View "${view.name}" saved.`), redirect: `${page}?${view.query}` };
  },
  'admin:delete-view': async (store, page, { form, user }) => {
    const views = await store.list(user.id, page);
    const deleted = views.find(({ name }) => name === form['name']);
    if (!deleted) throw invalid('This view no longer exists. Reload the page.');
    await store.set(
      user.id,
      page,
      views.filter((view) => view !== deleted),
    );
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
