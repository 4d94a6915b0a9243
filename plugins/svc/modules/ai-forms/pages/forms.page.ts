import type { AiForms } from '../ai-forms.ts';
import { formatCount, type AdminActionResult, type AdminPageBody } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import { recordActions, recordRow, statusBadge } from '../../../admin-ui/record-actions.ts';
import { assistantList, inOrder, type AssistantListRequest } from '../../../admin-ui/record-list.ts';
import { findReadyModel } from '../../../settings/example-model.ts';
import type { AiForm } from '../forms/form.ts';
import { formTransfer } from '../forms/form-store.ts';
import { blankForm, starters } from '../forms/starters.ts';
import { editSlug, embedLabel, formsSlug, postedForm, snippets, submissionsSlug } from './form-pages.ts';

const template = 'svc/ai-forms-list';

export function createPage(parts: AiForms): AdminPageBody {
  return {
    render: async ({ query }) => ({ template, data: await formsView(parts, { query }) }),
    actions: {
      create: (request) => create(parts, readText(request, 'starter')),
      ...recordActions({
        store: parts.forms,
        find: (request) => postedForm(parts, request),
        transfer: formTransfer,
        page: async (refused) => ({ template, data: await formsView(parts, { query: {}, refused }) }),
        editSlug,
        listSlug: formsSlug,
        fileNames: { one: ({ id }) => `ai-form-${String(id)}`, all: 'ai-forms' },
        texts: {
          count: (count) => formatCount(count, 'form'),
          inactive: 'Visitors cannot see it.',
          duplicated: (name) => `${name} created. It is inactive.`,
          deleted: (name) => `${name} deleted, with all submissions.`,
          imported: (count) => `${formatCount(count, 'form')} imported.`,
        },
      }),
    },
  };
}

/** The data of `svc/ai-forms-list`. */
async function formsView(parts: AiForms, { query, refused }: AssistantListRequest): Promise<Record<string, unknown>> {
  const { host, settings, submissions } = parts;
  const [forms, latest, unread, ready, sandbox] = await Promise.all([
    parts.forms.summaries(),
    submissions.latest(),
    submissions.countNew(),
    findReadyModel(parts),
    settings.sandbox.isOn(),
  ]);
  const labels = new Map(parts.providers.all().map(({ id, label }) => [id, label]));
  const list = assistantList(
    { query },
    {
      items: forms,
      columns: [
        { label: 'Completed', key: 'submissions', isNumber: true },
        { label: 'Last submission', key: 'last' },
        { label: 'Embedding' },
      ],
      values: ({ id, submissions: completed }) => ({ submissions: completed, last: latest.get(id) ?? null }),
      count: (count) => formatCount(count, 'form'),
      question: 'Delete the selected forms and all their submissions? They disappear from the pages that show them.',
    },
  );
  return {
    total: forms.length,
    ...list,
    forms: (await inOrder(parts.forms, list.rows)).map((form) => ({
      ...formRow(host, form),
      model: `${labels.get(form.provider) ?? form.provider}${form.model === '' ? '' : `, ${form.model}`}`,
      last: latest.get(form.id),
      unread: unread.get(form.id) ?? 0,
    })),
    starters: starters.map(({ id, label, description }) => ({ label, description, fields: { starter: id } })),
    blankFields: { starter: 'blank' },
    several: forms.length > 1,
    submissionsHref: host.admin.url(submissionsSlug),
    canAnswer: ready !== null,
    setupHref: host.admin.url('svc/setup'),
    sandboxOffered: !sandbox && (await settings.sandbox.isAvailable()),
    refused,
  };
}

function formRow(host: AiForms['host'], form: AiForm): Record<string, unknown> {
  return {
    ...recordRow(form),
    badge: statusBadge(form.status),
    fields: form.elements.length,
    submissions: form.submissions,
    embed: embedLabel(form.embed),
    knowledge: form.knowledge.enabled,
    shortcode: snippets(host, form.id).shortcode,
    editHref: `${host.admin.url(editSlug)}?id=${String(form.id)}`,
    submissionsHref: `${host.admin.url(submissionsSlug)}?form=${String(form.id)}`,
    newHref: `${host.admin.url(submissionsSlug)}?form=${String(form.id)}&state=new`,
  };
}

async function create(parts: AiForms, starterId: string): Promise<AdminActionResult> {
  const starter = starters.find(({ id }) => id === starterId);
  const ready = await findReadyModel(parts);
  const form = await parts.forms.create({ ...(starter?.settings ?? blankForm), ...ready });
  return {
    notice: ready
      ? { kind: 'success', text: `${form.name} created. Try it in the preview.` }
      : {
          kind: 'warning',
          text: `${form.name} created. To generate responses, configure a provider or turn on sandbox mode.`,
        },
    redirect: `${editSlug}?id=${String(form.id)}`,
  };
}
