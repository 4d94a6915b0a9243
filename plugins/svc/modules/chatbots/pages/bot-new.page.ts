import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import type { FieldFaults } from '../../../settings/invalid-fields.ts';
import { textOf } from '../../../settings/page/form-values.ts';
import { savingOrRefused } from '../../../settings/page/refuse.ts';
import { chatbotsOf } from '../chatbots.ts';
import { offeredModels, providerChoices } from '../../../settings/page/model-choices.ts';
import { faultAt } from '../../../settings/page/setting-field.ts';
import { editSlug } from './bot-pages.ts';
import { readyModel } from '../../../settings/ready-model.ts';
import { botTemplates, shownHere } from './bot-templates.ts';

const template = 'svc/bot-new';

interface Typed {
  readonly name: string;
  readonly provider: string;
  readonly model: string;
  readonly template: string;
}

/** Name, model and what to begin with; all else is set in the editor. */
export function botNewPage(context: ServiceContext): AdminPageBody {
  return {
    render: async () => {
      const { provider, model } = (await readyModel(context)) ?? (await chatbotsOf(context).bots.defaults());
      return {
        template,
        data: await view(context, { name: '', provider, model, template: botTemplates[0]?.id ?? '' }),
      };
    },
    actions: { create: (request) => create(context, request) },
  };
}

async function view(context: ServiceContext, typed: Typed, faults: FieldFaults = {}): Promise<Record<string, unknown>> {
  return {
    ...typed,
    nameFault: faultAt(faults, { path: 'name', label: 'Name' }),
    providerFault: faultAt(faults, { path: 'provider', label: 'Provider' }),
    modelFault: faultAt(faults, { path: 'model', label: 'Model' }),
    providers: await providerChoices(context, 'text'),
    models: await offeredModels(context),
    templates: botTemplates.map(({ id, label, description }) => ({
      id,
      label,
      description,
      checked: id === typed.template,
    })),
  };
}

function create(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const typed = {
    name: textOf(request, 'name').trim(),
    provider: textOf(request, 'provider'),
    model: textOf(request, 'model').trim(),
    template: textOf(request, 'template'),
  };
  const chosen = botTemplates.find(({ id }) => id === typed.template) ?? botTemplates[0];
  return savingOrRefused(
    async () => {
      const { name, provider, model } = typed;
      const bot = await chatbotsOf(context).bots.create({ ...chosen?.settings, ...shownHere, name, provider, model });
      return {
        notice: { kind: 'success', text: `${bot.name} is there. Ask it something in the preview.` },
        redirect: `${editSlug}?id=${String(bot.id)}`,
      };
    },
    { inputName: (name) => name, page: async (faults) => ({ template, data: await view(context, typed, faults) }) },
  );
}
