import { listQuery, listTabs, listView, matchesSearch, pageRows, queryText, readList } from '#plugin-api';
import type { AdminRequest, ListColumn } from '#plugin-api';
import { recordBulkOptions, type Off } from './record-actions.ts';
import type { RefusedImport } from './transfer-actions.ts';

interface Listed {
  readonly name: string;
  readonly status: string;
}

export interface RecordListInit<Item extends Listed> {
  readonly items: readonly Item[];
  /** With their labels, in the order of the tabs. */
  readonly states: readonly [State<'active'>, State<Off>];
  /** What a search finds besides the name. */
  readonly words: (item: Item) => readonly string[];
  readonly columns: readonly ListColumn[];
  /** Key of the column that sorts the list at first. */
  readonly sortedBy: string;
  /** What items are sorted by in columns other than the name; null comes last. */
  readonly values: (item: Item) => Readonly<Record<string, string | number | null>>;
  /** What several are: `3 chatbots`. */
  readonly count: (count: number) => string;
  /** Asked before the checked items are deleted. */
  readonly question: string;
}

interface State<Name> {
  readonly name: Name;
  readonly label: string;
}

export const recordStates = [
  { name: 'active', label: 'Active' },
  { name: 'inactive', label: 'Inactive' },
] as const;

export interface AssistantListRequest extends Pick<AdminRequest, 'query'> {
  readonly refused?: RefusedImport;
}

/** The list of chatbots or forms: their names, states, `columns` and ids. */
export function assistantList<Item extends Listed & { readonly id: number; readonly model: string }>(
  request: Pick<AdminRequest, 'query'>,
  { columns, values, ...init }: Omit<RecordListInit<Item>, 'states' | 'words' | 'sortedBy'>,
) {
  return recordList(request, {
    ...init,
    states: recordStates,
    words: ({ model }) => [model],
    sortedBy: 'id',
    columns: [
      { label: 'Name', key: 'name' },
      { label: 'Status' },
      ...columns,
      { label: 'Id', key: 'id', isNumber: true },
    ],
    values: (item) => ({ id: item.id, ...values(item) }),
  });
}

/** The records of the rows that a list shows, with all their settings. */
export async function inOrder<One extends { readonly id: number }>(
  store: { list(ids: readonly number[]): Promise<readonly One[]> },
  rows: readonly { readonly id: number }[],
): Promise<readonly One[]> {
  const found = new Map((await store.list(rows.map(({ id }) => id))).map((one) => [one.id, one]));
  return rows.flatMap(({ id }) => found.get(id) ?? []);
}

/** Search, states, sorting, page and bulk actions of a list of chatbots, forms or tasks, and the rows that it shows. */
export function recordList<Item extends Listed>(
  request: Pick<AdminRequest, 'query'>,
  { items, states, words, columns, sortedBy, values, count, question }: RecordListInit<Item>,
) {
  const search = queryText(request, 's');
  const status = states.find(({ name }) => name === queryText(request, 'status'));
  const found = items.filter((item) => matchesSearch(search, item.name, ...words(item)));
  const shown = found.filter((item) => status === undefined || item.status === status.name);
  const filters = { s: search, status: status?.name ?? '' };
  const sortable = [sortedBy, ...columns.flatMap(({ key = sortedBy }) => (key === sortedBy ? [] : key))] as const;
  const { state, rows } = pageRows(readList(request, { sortable: [...sortable], filters }), shown, (item, column) =>
    column === 'name' ? item.name : (values(item)[column] ?? null),
  );
  return {
    rows,
    search,
    searchFields: { status: filters.status },
    tabs: listTabs({ filter: 'status', current: filters.status, search }, [
      { name: '', label: 'All', count: found.length },
      ...states.map(({ name, label }) => ({
        ...{ name, label },
        count: found.filter((item) => item.status === name).length,
      })),
    ]),
    bulkFields: { back: listQuery(state) },
    bulkOptions: recordBulkOptions(question, states[1].name),
    list: listView(state, {
      total: shown.length,
      text: count(shown.length),
      chips: { s: `Search: ${search}`, status: status?.label ?? '' },
      columns,
    }),
  };
}
