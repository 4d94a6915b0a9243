import type { AiForms } from '../ai-forms.ts';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import { downloadJson, importUpload, type RefusedImport } from '../../../admin-ui/transfer-actions.ts';
import { findReadyModel } from '../../../settings/example-model.ts';
import type { AiForm } from '../forms/form.ts';
import { exportForms, importForms } from '../forms/form-transfer.ts';
import { blankForm, starters } from '../forms/starters.ts';
import { editSlug, embedLabel, formsSlug, postedForm, snippets, statusBadge, submissionsSlug } from './form-pages.ts';

const template = 'svc/ai-forms-list';

export function formsPage(parts: AiForms): AdminPageBody {
  return {
    render: async () => ({ template, data: await listView(parts) }),
    actions: {
      create: (request) => create(parts, readText(request, 'starter')),
      switch: async (request) => {
        const status = readText(request, 'status') === 'active' ? 'active' : 'inactive';
        const { name } = await parts.forms.update((await postedForm(parts, request)).id, { status });
        return {
          notice: {
            kind: 'success',
            text: status === 'active' ? `${name} is active.` : `${name} is inactive. Visitors cannot see it.`,
          },
        };
      },
      duplicate: async (request) => {
        const { id, name } = await parts.forms.duplicate((await postedForm(parts, request)).id);
        return {
          notice: { kind: 'success', text: `${name} created. It is inactive.` },
          redirect: `${editSlug}?id=${String(id)}`,
        };
      },
      delete: (request) => remove(parts, request),
      export: (request) => download(parts, request),
      import: (request) =>
        importUpload(request, {
          pasted: readText(request, 'json'),
          run: (text) => importAll(parts, text),
          page: async (refused) => ({ template, data: await listView(parts, refused) }),
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

async function remove(parts: AiForms, request: AdminRequest): Promise<AdminActionResult> {
  const form = await postedForm(parts, request);
  if (readText(request, 'confirm') !== '1')
    return {
      notice: {
        kind: 'error',
        text: `Nothing was deleted. Tick the box to confirm that you want to delete ${form.name}.`,
      },
    };
  await parts.forms.delete(form.id);
  return { notice: { kind: 'success', text: `${form.name} and its submissions deleted.` } };
}

async function download(parts: AiForms, request: AdminRequest): Promise<AdminActionResult> {
  const { forms } = parts;
  const chosen = readText(request, 'id') === '' ? await forms.list() : [await postedForm(parts, request)];
  const name = chosen.length === 1 ? `ai-form-${String(chosen[0]?.id)}.json` : 'ai-forms.json';
  return downloadJson(name, exportForms(chosen));
}

async function importAll(parts: AiForms, text: string): Promise<AdminActionResult> {
  const created = await importForms(text, parts.forms);
  const [first] = created;
  return created.length === 1 && first
    ? {
        notice: { kind: 'success', text: `${first.name} imported.` },
        redirect: `${editSlug}?id=${String(first.id)}`,
      }
    : { notice: { kind: 'success', text: `${String(created.length)} forms imported.` }, redirect: formsSlug };
}
