import { clampPage, formatNumber, listQuery, listView, readList, translateText } from '#plugin-api';
import type { AdminPageBody, AdminRequest } from '#plugin-api';
import { readStates, type ReadFilter } from '../kit/submissions/read-states.ts';
import { jsonLines } from '../kit/submissions/submissions-command.ts';
import { exportList } from './list-pages.ts';
import { changesOf, changeSelected, submissionActions } from './submission-actions.ts';
import { stateLabels, type ShownSubmission, type SubmissionKind, type Values } from './submission-kind.ts';

/** The list of submissions: what is new, what was read, what is archived. */
export function submissionsPage<Submission extends ShownSubmission, Filter extends ReadFilter>(
  kind: SubmissionKind<Submission, Filter>,
): AdminPageBody {
  const { store, file, csv, record } = kind;
  return {
    render: async (request) => ({ template: 'svc/submissions', data: await listData(kind, request) }),
    actions: {
      ...submissionActions(kind),
      export: async ({ form }) => {
        const all = store.all(filterOf(kind, readValues(kind, form)));
        return exportList(form, file, { csv: () => csv(all), jsonl: () => jsonLines(all, record) });
      },
      bulk: (request) => changeSelected(kind, request),
    },
  };
}

async function listData<Submission extends ShownSubmission, Filter extends ReadFilter>(
  kind: SubmissionKind<Submission, Filter>,
  request: Pick<AdminRequest, 'query'>,
): Promise<Record<string, unknown>> {
  const { host, store, slugs, columns, empty, searchLabel } = kind;
  const values = readValues(kind, request.query);
  const filter = filterOf(kind, values);
  const [choices, counts] = await Promise.all([kind.choices(values), store.countByReadState(filter)]);
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const total = filter.readState === undefined ? all : (counts.get(filter.readState) ?? 0);
  const state = clampPage(readList(request, { sortable: ['id'], order: 'desc', filters: values }), total);
  const { page, perPage } = state;
  const shown = await store.list(filter, { limit: perPage, offset: (page - 1) * perPage });
  const texts = await kind.rows(shown);
  const itemHref = host.admin.url(slugs.item);
  return {
    empty,
    searchLabel,
    search: values['search'],
    state: values['state'],
    rows: shown.map((submission, index) => ({
      ...texts[index],
      ...rowData(submission, { itemHref, back: listQuery(state) }),
    })),
    total,
    isEmpty: all === 0 && Object.values(values).every((value) => value === ''),
    exportFields: values,
    tabs: stateTabs(values, { counts, all }),
    bulkFields: { back: listQuery(state) },
    bulkOptions: [
      ...changesOf(filter.readState),
      { value: 'delete', label: 'Delete', confirm: 'Delete the selected submissions permanently?' },
    ],
    choices: choices.map(({ name, label, field }) => ({
      ...{ name, label, ...field },
      id: `filter-${name}`,
      value: values[name],
    })),
    hasFilters: choices.some(({ name }) => values[name] !== ''),
    clearHref: host.admin.url(slugs.list),
    list: listView(state, {
      columns,
      total,
      text: 'Newest first',
      chips: {
        search: `Search: ${values['search'] ?? ''}`,
        ...Object.fromEntries(choices.map(({ name, chip }) => [name, chip])),
      },
    }),
  };
}

function stateTabs(
  values: Values,
  { counts, all }: { readonly counts: ReadonlyMap<string, number>; readonly all: number },
) {
  const tab = (value: string, label: string, count: number) => ({
    label: `${translateText(label)} (${formatNumber(count)})`,
    href: `?${new URLSearchParams(Object.entries({ ...values, state: value }).filter(([, text]) => text !== '')).toString()}`,
    current: values['state'] === value,
  });
  return [tab('', 'All', all), ...readStates.map((value) => tab(value, stateLabels[value], counts.get(value) ?? 0))];
}

function rowData(
  { id, readState, createdAt }: ShownSubmission,
  { itemHref, back }: { readonly itemHref: string; readonly back: string },
) {
  return {
    id,
    createdAt,
    isNew: readState === 'new',
    isArchived: readState === 'archived',
    href: `${itemHref}?${new URLSearchParams({ id, ...(back !== '' && { back }) }).toString()}`,
    changes: changesOf(readState).map(({ value, label }) => ({ label, fields: { id, back, state: value } })),
    deleteFields: { id, back },
  };
}

/** The values of all filters in a query or form. Invalid ones are ''. */
function readValues<Submission extends ShownSubmission, Filter extends ReadFilter>(
  { filters }: SubmissionKind<Submission, Filter>,
  query: Readonly<Record<string, unknown>>,
): Values {
  const textOf = (name: string): string => {
    const value = query[name];
    return typeof value === 'string' ? value.trim().slice(0, 200) : '';
  };
  return {
    ...Object.fromEntries(Object.entries(filters).map(([name, read]) => [name, read(textOf(name))])),
    state: readStates.find((one) => one === query['state']) ?? '',
    search: textOf('search'),
  };
}

function filterOf<Submission extends ShownSubmission, Filter extends ReadFilter>(
  { toFilter }: SubmissionKind<Submission, Filter>,
  values: Values,
): Filter {
  return {
    ...toFilter(values),
    readState: readStates.find((one) => one === values['state']),
    search: values['search'],
  } as Filter;
}
