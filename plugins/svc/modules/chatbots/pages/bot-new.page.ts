import { fieldError, withNotice, withFieldErrors } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, FieldErrors } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { offeredModels, providerChoices } from '../../../admin-ui/model-choices.ts';
import { editSlug } from './bot-page-slugs.ts';
import { findReadyModel } from '../../../settings/example-model.ts';
import { botTemplates, embeddedHere } from './bot-templates.ts';

const template = 'svc/bot-new';

interface Typed {
  readonly name: string;
  readonly provider: string;
  readonly model: string;
  readonly template: string;
}

/** Asks for a name, a model and a template. Everything else is set in the editor. */
export function createPage(parts: ChatbotParts): AdminPageBody {
  return {
    render: async () => {
      const { provider, model } = (await findReadyModel(parts)) ?? (await parts.bots.defaults());
      return {
        template,
        data: await view(parts, { name: '', provider, model, template: botTemplates[0]?.id ?? '' }),
      };
    },
    actions: { create: (request) => create(parts, request) },
  };
}

async function view(parts: ChatbotParts, typed: Typed, errors: FieldErrors = {}): Promise<Record<string, unknown>> {
  return {
    ...typed,
    nameError: fieldError(errors, 'name', 'Name'),
    providerError: fieldError(errors, 'provider', 'Provider'),
    modelError: fieldError(errors, 'model', 'Model'),
    providers: await providerChoices(parts, 'text'),
    models: await offeredModels(parts),
    templates: botTemplates.map(({ id, label, description }) => ({
      id,
      label,
      description,
      checked: id === typed.template,
    })),
  };
}

function create(parts: ChatbotParts, request: AdminRequest): Promise<AdminActionResult> {
  const typed = {
    name: readText(request, 'name').trim(),
    provider: readText(request, 'provider'),
    model: readText(request, 'model').trim(),
    template: readText(request, 'template'),
  };
  const chosen = botTemplates.find(({ id }) => id === typed.template) ?? botTemplates[0];
  return withFieldErrors(
    async () => {
      const { name, provider, model } = typed;
      const bot = await parts.bots.create({ ...chosen?.settings, ...embeddedHere, name, provider, model });
      return withNotice('success', `"${bot.name}" created. Ask it something in the preview.`, {
        redirect: `${editSlug}?id=${String(bot.id)}`,
      });
    },
    async (errors) => ({ template, data: await view(parts, typed, errors) }),
  );
}
