import type { AiForms } from '../ai-forms.ts';
import { clampPage, formatNumber, listQuery, listView, parseId, readList, translateText } from '#plugin-api';
import type { AdminPageBody, AdminRequest } from '#plugin-api';
import { exportList } from '../../../admin-ui/list-pages.ts';
import { readStates, type Submission, type SubmissionFilter } from '../submissions/submission.ts';
import { submissionsCsv, submissionsJsonl } from '../submissions/submissions-export.ts';
import { formsSlug, submissionSlug, submissionsSlug } from './form-pages.ts';
import { changeSelected, changesOf, deleteOne, markOne } from './submission-actions.ts';
import { personOf, readStateLabels, statusBadges, titleOf } from './submission-labels.ts';

const statuses = ['completed', 'failed', 'running'] as const;
const columns = [
  { label: 'Submission' },
  { label: 'Status' },
  { label: 'Form' },
  { label: 'By' },
  { label: 'Submitted' },
];

/** The submissions of all forms or of one: what is new, what was read, what is archived. */
export function createPage(parts: AiForms): AdminPageBody {
  const { submissions } = parts;
  return {
    render: async (request) => ({ template: 'svc/ai-form-submissions', data: await view(parts, request) }),
    actions: {
      export: async ({ form }) => {
        const all = submissions.all(toFilter(readFilters(form)));
        return exportList(form, 'form-submissions', {
          csv: () => submissionsCsv(all),
          jsonl: () => submissionsJsonl(all),
        });
      },
      mark: (request) => markOne(parts, request),
      delete: (request) => deleteOne(parts, request),
      bulk: (request) => changeSelected(parts, request),
    },
  };
}

async function view(parts: AiForms, request: Pick<AdminRequest, 'query'>): Promise<Record<string, unknown>> {
  const { host, forms, submissions } = parts;
  const filters = readFilters(request.query);
  const filter = toFilter(filters);
  const [known, counts] = await Promise.all([forms.list(), submissions.countByReadState(filter)]);
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const total = filter.readState === undefined ? all : (counts.get(filter.readState) ?? 0);
  const state = clampPage(readList(request, { sortable: ['id'], order: 'desc', filters }), total);
  const { page, perPage } = state;
  const shown = await submissions.list(filter, { limit: perPage, offset: (page - 1) * perPage });
  const users = await host.users.names([...new Set(shown.map(({ userId }) => userId).filter((id) => id > 0))]);
  const isFiltered = Object.values(filters).some((value) => value !== '');
  const formName = known.find(({ id }) => id === filter.formId)?.name ?? filters.form;
  return {
    ...filters,
    rows: shown.map((submission) => rowOf(parts, submission, { users, back: listQuery(state) })),
    total,
    isEmpty: all === 0 && !isFiltered,
    exportFields: filters,
    tabs: stateTabs(filters, { counts, all }),
    bulkFields: { back: listQuery(state) },
    bulkOptions: [
      ...changesOf(filter.readState),
      { value: 'delete', label: 'Delete', confirm: 'Delete the selected submissions permanently?' },
    ],
    formOptions: [
      { value: '', label: 'All forms' },
      ...known.map(({ id, name }) => ({ value: String(id), label: name })),
    ],
    statusOptions: [
      { value: '', label: 'All statuses' },
      ...statuses.map((value) => ({ value, label: statusBadges[value].text })),
    ],
    listHref: host.admin.url(formsSlug),
    clearHref: host.admin.url(submissionsSlug),
    list: listView(state, {
      columns,
      total,
      text: 'Newest first',
      chips: {
        search: `Search: ${filters.search}`,
        form: `Form: ${formName}`,
        status: filter.status === undefined ? '' : statusBadges[filter.status].text,
      },
    }),
  };
}

function stateTabs(
  filters: Filters,
  { counts, all }: { readonly counts: ReadonlyMap<string, number>; readonly all: number },
) {
  const tab = (value: string, label: string, count: number) => ({
    label: `${translateText(label)} (${formatNumber(count)})`,
    href: `?${new URLSearchParams(Object.entries({ ...filters, state: value }).filter(([, text]) => text !== '')).toString()}`,
    current: filters.state === value,
  });
  return [
    tab('', 'All', all),
    ...readStates.map((value) => tab(value, readStateLabels[value], counts.get(value) ?? 0)),
  ];
}

function rowOf(
  { host }: Pick<AiForms, 'host'>,
  submission: Submission,
  { users, back }: { readonly users: ReadonlyMap<number, string>; readonly back: string },
): Record<string, unknown> {
  const { id, status, readState, formName, createdAt } = submission;
  return {
    id,
    formName,
    createdAt,
    title: titleOf(submission),
    isNew: readState === 'new',
    isArchived: readState === 'archived',
    badge: statusBadges[status],
    person: personOf(submission, users),
    href: `${host.admin.url(submissionSlug)}?${new URLSearchParams({ id, ...(back !== '' && { back }) }).toString()}`,
    changes: changesOf(readState).map(({ value, label }) => ({ label, fields: { id, back, state: value } })),
    deleteFields: { id, back },
  };
}

interface Filters extends Readonly<Record<string, string>> {
  readonly form: string;
  readonly status: string;
  readonly state: string;
  readonly search: string;
}

/** Ignores invalid values. */
function readFilters(query: Readonly<Record<string, unknown>>): Filters {
  return {
    form: String(parseId(query['form']) || ''),
    status: statuses.find((one) => one === query['status']) ?? '',
    state: readStates.find((one) => one === query['state']) ?? '',
    search: textOf(query['search']),
  };
}

function toFilter({ form, status, state, search }: Filters): SubmissionFilter {
  return {
    formId: form === '' ? undefined : Number(form),
    status: statuses.find((one) => one === status),
    readState: readStates.find((one) => one === state),
    search,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim().slice(0, 200) : '';
}
