import { translateText } from './language.ts';
import type { AdminRequest } from './admin.ts';
import { restError, type RestError } from './errors.ts';
import { formatNumber } from './format.ts';
import { parseId } from './values.ts';

/** Page sizes to choose from. */
const sizes = [20, 50, 100] as const;
/** Rows that one bulk action changes. */
const maxAtOnce = 100;

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

/**
 * Sorts a list that is in memory and cuts its page, for lists of at most some thousand rows.
 *
 * @param valueOf what rows are sorted by in a column of `sortable`; null comes last in both directions.
 */
export function pageRows<Row>(
  given: ListState,
  rows: readonly Row[],
  valueOf: (row: Row, key: string) => string | number | null,
): { readonly state: ListState; readonly rows: readonly Row[] } {
  const state = clampPage(given, rows.length);
  const sign = state.order === 'asc' ? 1 : -1;
  const sorted = rows
    .map((row) => ({ row, value: valueOf(row, state.sort) }))
    .sort(({ value: left }, { value: right }) => {
      if (left === null || right === null) return Number(left === null) - Number(right === null);
      return (
        sign *
        (typeof left === 'number' && typeof right === 'number'
          ? left - right
          : String(left).localeCompare(String(right), 'en', { numeric: true }))
      );
    });
  const from = (state.page - 1) * state.perPage;
  return { state, rows: sorted.slice(from, from + state.perPage).map(({ row }) => row) };
}

/** Whether one of the texts contains the search, whatever its case. An empty search matches all. */
export function matchesSearch(search: string, ...texts: readonly string[]): boolean {
  const wanted = search.toLowerCase();
  return texts.some((text) => text.toLowerCase().includes(wanted));
}

/** A text parameter of a query, trimmed; '' if it is missing. */
export function queryText({ query }: Pick<AdminRequest, 'query'>, name: string): string {
  const value = query[name];
  return typeof value === 'string' ? value.trim().slice(0, 200) : '';
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

/** A filter that is set, and a link to the list without it. */
export interface ListChip {
  readonly text: string;
  readonly href: string;
}

/**
 * Data for the partial `admin/list-chips`: the set filters, in the order of `texts`.
 *
 * @param query all parameters of the list but the page; empty ones are left out of links.
 * @param texts what a chip says, by name of the filter, such as `Author: Ada`. Filters without a text have no chip.
 */
export function filterChips(
  query: Readonly<Record<string, string>>,
  texts: Readonly<Record<string, string>>,
): readonly ListChip[] {
  return Object.entries(texts)
    .filter(([name, text]) => text !== '' && (query[name] ?? '') !== '')
    .map(([removed, text]) => {
      const others = Object.entries(query).filter(([name, value]) => name !== removed && value !== '');
      return { text, href: `?${new URLSearchParams(others).toString()}` };
    });
}

/** Ids of checked rows: the field `ids[]`, or `ids` separated by commas. @throws RestError 400 without any. */
export function readIds({ form: { ids } }: Pick<AdminRequest, 'form'>): readonly number[] {
  const list: readonly unknown[] = Array.isArray(ids) ? ids : typeof ids === 'string' ? ids.split(',') : [];
  const read = list.map((id) => parseId(String(id).trim())).filter((id) => id > 0);
  if (read.length === 0) throw notSelected();
  return [...new Set(read)].slice(0, maxAtOnce);
}

/** As `readIds`, for ids that are texts, such as slugs. @throws RestError 400 without any. */
export function readTextIds({ form: { ids } }: Pick<AdminRequest, 'form'>): readonly string[] {
  const list: readonly unknown[] = Array.isArray(ids) ? ids : typeof ids === 'string' ? ids.split(',') : [];
  const read = list.filter((id): id is string => typeof id === 'string' && /^[\w-]{1,64}$/.test(id));
  if (read.length === 0) throw notSelected();
  return [...new Set(read)].slice(0, maxAtOnce);
}

/** For the field `was` of an Undo: a former value of each row, `id:value,...`. @param valueOf text without commas */
export function writeFormer<Row extends { readonly id: number }>(
  rows: readonly Row[],
  valueOf: (row: Row) => string,
): string {
  return rows.map((row) => `${row.id}:${valueOf(row)}`).join(',');
}

/** The former values in the field `was`, by id. */
export function readFormer({ form: { was } }: Pick<AdminRequest, 'form'>): ReadonlyMap<number, string> {
  const entries = (typeof was === 'string' ? was : '').split(',').map((entry) => entry.split(':', 2));
  return new Map(entries.map(([id, value = '']) => [Number(id), value]));
}

/** The error of a bulk action without rows or without a known action. */
export function notSelected(): RestError {
  return restError(400, 'rest_invalid_param', 'Select entries and an action first.');
}

/**
 * Where a list was, from the field `back` of a form: the query of `listQuery` without unknown parameters.
 *
 * @param path of the list below the admin root.
 * @param filters names of its filters.
 */
export function backToList({ form }: Pick<AdminRequest, 'form'>, path: string, filters: readonly string[]): ListBack {
  const known = [...filters, 'sort', 'order', 'per_page', 'page'];
  const given = new URLSearchParams(typeof form['back'] === 'string' ? form['back'] : '');
  const query = new URLSearchParams([...given].filter(([name]) => known.includes(name))).toString();
  return { query, redirect: query === '' ? path : `${path}?${query}` };
}

export interface ListBack {
  /** For the field `back` of an Undo. */
  readonly query: string;
  /** For the result of an action. */
  readonly redirect: string;
}

/** Whose rows a tab shows. */
export interface ListTab {
  /** Value of the filter; '' for all rows. */
  readonly name: string;
  readonly label: string;
  readonly count: number;
}

/** The tabs above a list, with their counts, for the partial `admin/tabs`. They keep the search `s`. */
export function listTabs(
  { filter, current, search }: { readonly filter: string; readonly current: string; readonly search: string },
  tabs: readonly ListTab[],
): readonly { readonly label: string; readonly href: string; readonly current: boolean }[] {
  return tabs.map(({ name, label, count }) => ({
    label: `${translateText(label)} (${formatNumber(count)})`,
    href: `?${new URLSearchParams({ ...(search !== '' && { s: search }), ...(name !== '' && { [filter]: name }) }).toString()}`,
    current: name === current,
  }));
}

export interface ListViewInit {
  readonly columns: readonly ListColumn[];
  readonly total: number;
  /** Below the list, such as `12 users`. */
  readonly text: string;
  /** What the chip of a set filter says, by its name. */
  readonly chips?: Readonly<Record<string, string>>;
}

/** Data for the partials `admin/list-head`, `admin/list-sort`, `admin/list-chips` and `admin/list-foot`. */
export function listView(
  state: ListState,
  { columns, total, text, chips = {} }: ListViewInit,
): Readonly<Record<string, unknown>> {
  const pages = Math.max(1, Math.ceil(total / state.perPage));
  const href = (changes: Parameters<typeof listQuery>[1]): string => `?${listQuery(state, changes)}`;
  return {
    text,
    chips: filterChips(Object.fromEntries(new URLSearchParams(listQuery(state, { page: 1 }))), chips),
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
