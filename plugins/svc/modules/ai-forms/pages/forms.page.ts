import type { AiForms } from '../ai-forms.ts';
import { formatCount, type AdminActionResult, type AdminPageBody } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import { recordActions } from '../../../admin-ui/record-actions.ts';
import type { RefusedImport } from '../../../admin-ui/transfer-actions.ts';
import { findReadyModel } from '../../../settings/example-model.ts';
import type { AiForm } from '../forms/form.ts';
import { formTransfer } from '../forms/form-store.ts';
import { blankForm, starters } from '../forms/starters.ts';
import { editSlug, embedLabel, formsSlug, postedForm, snippets, statusBadge, submissionsSlug } from './form-pages.ts';

const template = 'svc/ai-forms-list';

export function formsPage(parts: AiForms): AdminPageBody {
  return {
    render: async () => ({ template, data: await listView(parts) }),
    actions: {
      create: (request) => create(parts, readText(request, 'starter')),
      ...recordActions({
        store: parts.forms,
        find: (request) => postedForm(parts, request),
        transfer: formTransfer,
        page: async (refused) => ({ template, data: await listView(parts, refused) }),
        editSlug,
        listSlug: formsSlug,
        fileNames: { one: ({ id }) => `ai-form-${String(id)}`, all: 'ai-forms' },
        texts: {
          count: (count) => formatCount(count, 'form'),
          inactive: 'Visitors cannot see it.',
          duplicated: (name) => `${name} created. It is inactive.`,
          deleted: (name) => `${name} and its submissions deleted.`,
          imported: (count) => `${formatCount(count, 'form')} imported.`,
        },
      }),
    },
  };
}

async function listView(parts: AiForms, refused?: RefusedImport): Promise<Record<string, unknown>> {
  const { host, settings } = parts;
  const { forms, submissions } = parts;
  const [list, latest, ready, sandbox] = await Promise.all([
    forms.list(),
    submissions.latest(),
    findReadyModel(parts),
    settings.sandbox.isOn(),
  ]);
  const labels = new Map(parts.providers.all().map(({ id, label }) => [id, label]));
  return {
    forms: list.map((form) => ({
      ...card(host, form),
      model: `${labels.get(form.provider) ?? form.provider}${form.model === '' ? '' : `, ${form.model}`}`,
      last: latest.get(form.id),
    })),
    starters: starters.map(({ id, label, description }) => ({ label, description, fields: { starter: id } })),
    blankFields: { starter: 'blank' },
    several: list.length > 1,
    submissionsHref: host.admin.url(submissionsSlug),
    canAnswer: ready !== null,
    setupHref: host.admin.url('svc/setup'),
    sandboxOffered: !sandbox && (await settings.sandbox.isAvailable()),
    refused,
  };
}

function card(host: AiForms['host'], form: AiForm): Record<string, unknown> {
  const active = form.status === 'active';
  return {
    id: form.id,
    title: form.name,
    badge: statusBadge(form.status),
    fields: form.elements.length,
    submissions: form.submissions,
    embed: embedLabel(form.embed),
    knowledge: form.knowledge.enabled,
    shortcode: snippets(host, form.id).shortcode,
    editHref: `${host.admin.url(editSlug)}?id=${String(form.id)}`,
    submissionsHref: `${host.admin.url(submissionsSlug)}?form=${String(form.id)}`,
    switchLabel: active ? 'Deactivate' : 'Activate',
    idFields: { id: form.id },
    switchFields: { id: form.id, status: active ? 'inactive' : 'active' },
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
