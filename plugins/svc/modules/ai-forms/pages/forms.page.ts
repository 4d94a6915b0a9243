import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { downloadJson, importUpload, type RefusedImport } from '../../../admin-ui/transfer-actions.ts';
import { findReadyModel } from '../../../settings/example-model.ts';
import { aiFormsOf } from '../ai-forms.ts';
import type { AiForm } from '../forms/form.ts';
import { exportForms, importForms } from '../forms/form-transfer.ts';
import { blankForm, starters } from '../forms/starters.ts';
import { editSlug, embedWords, formsSlug, postedForm, snippets, statusBadge, submissionsSlug } from './form-pages.ts';

const template = 'svc/ai-forms-list';

/** The list of forms: making, copying, switching, moving and deleting them. */
export function formsPage(context: ServiceContext): AdminPageBody {
  return {
    render: async () => ({ template, data: await listView(context) }),
    actions: {
      create: (request) => create(context, readText(request, 'starter')),
      switch: async (request) => {
        const status = readText(request, 'status') === 'active' ? 'active' : 'inactive';
        const { name } = await aiFormsOf(context).forms.update((await postedForm(context, request)).id, { status });
        return {
          notice: {
            kind: 'success',
            text: status === 'active' ? `${name} is active.` : `${name} is inactive: nobody sees it.`,
          },
        };
      },
      duplicate: async (request) => {
        const { id, name } = await aiFormsOf(context).forms.duplicate((await postedForm(context, request)).id);
        return {
          notice: { kind: 'success', text: `${name} is there. It is inactive until you switch it on.` },
          redirect: `${editSlug}?id=${String(id)}`,
        };
      },
      delete: (request) => remove(context, request),
      export: (request) => download(context, request),
      import: (request) =>
        importUpload(request, {
          pasted: readText(request, 'json'),
          run: (text) => importAll(context, text),
          page: async (refused) => ({ template, data: await listView(context, refused) }),
        }),
    },
  };
}

async function listView(context: ServiceContext, refused?: RefusedImport): Promise<Record<string, unknown>> {
  const { host, settings } = context;
  const { forms, submissions } = aiFormsOf(context);
  const [list, latest, providers, ready, sandbox] = await Promise.all([
    forms.list(),
    submissions.latest(),
    context.providers.all(),
    findReadyModel(context),
    settings.sandbox.isOn(),
  ]);
  const labels = new Map(providers.map(({ id, label }) => [id, label]));
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

function card(host: ServiceContext['host'], form: AiForm): Record<string, unknown> {
  const active = form.status === 'active';
  return {
    id: form.id,
    title: form.name,
    badge: statusBadge(form.status),
    fields: form.elements.length,
    submissions: form.submissions,
    embed: embedWords(form.embed),
    knowledge: form.knowledge.enabled,
    shortcode: snippets(host, form.id).shortcode,
    editHref: `${host.admin.url(editSlug)}?id=${String(form.id)}`,
    submissionsHref: `${host.admin.url(submissionsSlug)}?form=${String(form.id)}`,
    switchLabel: active ? 'Deactivate' : 'Activate',
    idFields: { id: form.id },
    switchFields: { id: form.id, status: active ? 'inactive' : 'active' },
  };
}

async function create(context: ServiceContext, starterId: string): Promise<AdminActionResult> {
  const starter = starters.find(({ id }) => id === starterId);
  const ready = await findReadyModel(context);
  const form = await aiFormsOf(context).forms.create({ ...(starter?.settings ?? blankForm), ...ready });
  return {
    notice: ready
      ? { kind: 'success', text: `${form.name} is there. Try it in the preview.` }
      : {
          kind: 'warning',
          text: `${form.name} is there, but no provider is set up yet: it cannot answer until one is, or the sandbox is on.`,
        },
    redirect: `${editSlug}?id=${String(form.id)}`,
  };
}

async function remove(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const form = await postedForm(context, request);
  if (readText(request, 'confirm') !== '1')
    return {
      notice: { kind: 'error', text: `Nothing was deleted. Tick the box to confirm that ${form.name} is to go.` },
    };
  await aiFormsOf(context).forms.delete(form.id);
  return { notice: { kind: 'success', text: `${form.name} is deleted, with its submissions.` } };
}

async function download(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const { forms } = aiFormsOf(context);
  const chosen = readText(request, 'id') === '' ? await forms.list() : [await postedForm(context, request)];
  const name = chosen.length === 1 ? `ai-form-${String(chosen[0]?.id)}.json` : 'ai-forms.json';
  return downloadJson(name, exportForms(chosen));
}

async function importAll(context: ServiceContext, text: string): Promise<AdminActionResult> {
  const made = await importForms(text, aiFormsOf(context).forms);
  const [first] = made;
  return made.length === 1 && first
    ? {
        notice: { kind: 'success', text: `${first.name} is imported.` },
        redirect: `${editSlug}?id=${String(first.id)}`,
      }
    : { notice: { kind: 'success', text: `${String(made.length)} forms are imported.` }, redirect: formsSlug };
}
