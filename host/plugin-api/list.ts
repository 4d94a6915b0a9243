import type { AdminRequest } from './admin.ts';

/** Page sizes to choose from. */
const sizes = [20, 50, 100] as const;

export interface ListInit {
  /** Keys of columns that can be sorted. The first is the default. */
  readonly sortable: readonly [string, ...string[]];
  /** Direction of the default column. Default `asc`. */
  readonly order?: 'asc' | 'desc';
  /** Other parameters of the list that links keep, such as a filter and the search. Empty ones are left out. */
  readonly filters: Readonly<Record<string, string>>;
}

/** What a person has chosen for a list: filters, sorting, page and page size. */
export interface ListState extends Required<ListInit> {
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
  readonly sort: string;
  readonly order: 'asc' | 'desc';
  readonly defaultOrder: 'asc' | 'desc';
}

export interface ListColumn {
  readonly label: string;
  /** Key in `sortable`; without it, the column cannot be sorted. */
  readonly key?: string;
  readonly isNumber?: boolean;
}

/** Reads `sort`, `order`, `page` and `per_page` of a query. Invalid values are ignored. */
export function readList(
  { query }: Pick<AdminRequest, 'query'>,
  { sortable, order: defaultOrder = 'asc', filters }: ListInit,
): ListState {
  const number = (name: string): number => {
    const text = query[name];
    return typeof text === 'string' && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0;
  };
  const sort = sortable.find((key) => key === query['sort']);
  const order = query['order'];
  return {
    sortable,
    filters,
    defaultOrder,
    page: Math.max(1, number('page')),
    perPage: sizes.find((size) => size === number('per_page')) ?? sizes[0],
    sort: sort ?? sortable[0],
    order: sort !== undefined && (order === 'asc' || order === 'desc') ? order : defaultOrder,
  };
}

/** The page of a list that exists, after entries were removed from the last one. */
export function clampPage(state: ListState, total: number): ListState {
  return { ...state, page: Math.min(state.page, Math.max(1, Math.ceil(total / state.perPage))) };
}

/** The query of a list with some parts changed, without `?`. Defaults are left out. */
export function listQuery(
  state: ListState,
  changes: Partial<Pick<ListState, 'page' | 'perPage' | 'sort' | 'order'>> = {},
): string {
  const { page, perPage, sort, order } = { ...state, ...changes };
  const isDefaultSort = sort === state.sortable[0] && order === state.defaultOrder;
  const parameters = {
    ...state.filters,
    ...(!isDefaultSort && { sort, order }),
    ...(perPage !== sizes[0] && { per_page: String(perPage) }),
    ...(page > 1 && { page: String(page) }),
  };
  return new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== '')).toString();
}

/** Data for the partials `admin/list-head` and `admin/list-foot`. */
export function listView(
  state: ListState,
  { columns, total, text }: { readonly columns: readonly ListColumn[]; readonly total: number; readonly text: string },
): Readonly<Record<string, unknown>> {
  const pages = Math.max(1, Math.ceil(total / state.perPage));
  const href = (changes: Parameters<typeof listQuery>[1]): string => `?${listQuery(state, changes)}`;
  return {
    text,
    /** Of the shown list, for forms that lead back to it. */
    query: listQuery(state),
    columns: columns.map(({ label, key, isNumber = false }) => {
      if (key === undefined) return { label, isNumber };
      const isCurrent = key === state.sort;
      const next = isCurrent && state.order === 'asc' ? 'desc' : 'asc';
      return {
        label,
        isNumber,
        href: href({ sort: key, order: next, page: 1 }),
        sorted: isCurrent ? (state.order === 'asc' ? 'ascending' : 'descending') : null,
      };
    }),
    sizes:
      total <= sizes[0]
        ? []
        : sizes.map((perPage) => ({
            label: String(perPage),
            href: href({ perPage, page: 1 }),
            isCurrent: perPage === state.perPage,
          })),
    pagination:
      pages === 1
        ? null
        : {
            text: `Page ${state.page} of ${pages}`,
            previous: state.page > 1 ? href({ page: state.page - 1 }) : null,
            next: state.page < pages ? href({ page: state.page + 1 }) : null,
          },
  };
}
