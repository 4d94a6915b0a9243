import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { textOf } from '../../../settings/page/form-values.ts';
import { downloadJson, takeIn } from '../../../settings/page/transfer-actions.ts';
import { exportBots, importBots } from '../bots/bot-transfer.ts';
import { chatbotsOf } from '../chatbots.ts';
import { botOfForm } from './bot-of.ts';
import { botsSlug, editSlug } from './bot-pages.ts';
import { readyModel } from '../../../settings/ready-model.ts';
import { botTemplates, shownHere } from './bot-templates.ts';
import { botsView } from './bots-view.ts';

const template = 'svc/bots';

/** The list of chatbots: making, copying, switching, moving and deleting them. */
export function botsPage(context: ServiceContext): AdminPageBody {
  return {
    render: async () => ({ template, data: await botsView(context) }),
    actions: {
      first: () => makeFirst(context),
      'first-sandbox': async () => {
        await context.settings.sandbox.turn(true);
        return makeFirst(context);
      },
      switch: async (request) => {
        const status = textOf(request, 'status') === 'active' ? 'active' : 'inactive';
        const { name } = await chatbotsOf(context).bots.update((await botOfForm(context, request)).id, { status });
        return {
          notice: {
            kind: 'success',
            text: status === 'active' ? `${name} is active.` : `${name} is inactive: it answers nobody.`,
          },
        };
      },
      duplicate: async (request) => {
        const { id, name } = await chatbotsOf(context).bots.duplicate((await botOfForm(context, request)).id);
        return {
          notice: { kind: 'success', text: `${name} is there. It is inactive until you switch it on.` },
          redirect: `${editSlug}?id=${String(id)}`,
        };
      },
      delete: (request) => remove(context, request),
      export: (request) => download(context, request),
      import: (request) =>
        takeIn(request, {
          pasted: textOf(request, 'json'),
          make: (text) => importAll(context, text),
          page: async (refused) => ({ template, data: await botsView(context, refused) }),
        }),
    },
  };
}

/** A bot that answers at once, with the provider that is set up. Two clicks make one. */
async function makeFirst(context: ServiceContext): Promise<AdminActionResult> {
  const { bots } = chatbotsOf(context);
  const [there] = await bots.list();
  if (there)
    return {
      notice: { kind: 'info', text: `There is a chatbot already: ${there.name}.` },
      redirect: `${editSlug}?id=${String(there.id)}`,
    };
  const ready = await readyModel(context);
  const bot = await bots.create({ ...botTemplates[0]?.settings, ...shownHere, ...ready, name: 'Assistant' });
  return {
    notice: ready
      ? { kind: 'success', text: `${bot.name} is ready. Ask it something in the preview.` }
      : {
          kind: 'warning',
          text: `${bot.name} is there, but no provider is set up yet: it cannot answer until one is, or the sandbox is on.`,
        },
    redirect: `${editSlug}?id=${String(bot.id)}`,
  };
}

async function remove(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const bot = await botOfForm(context, request);
  if (textOf(request, 'confirm') !== '1')
    return {
      notice: { kind: 'error', text: `Nothing was deleted. Tick the box to confirm that ${bot.name} is to go.` },
    };
  await chatbotsOf(context).bots.delete(bot.id);
  return { notice: { kind: 'success', text: `${bot.name} is deleted. Its conversations stay in the logs.` } };
}

async function download(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const { bots } = chatbotsOf(context);
  const chosen = textOf(request, 'id') === '' ? await bots.list() : [await botOfForm(context, request)];
  const name = chosen.length === 1 ? `chatbot-${String(chosen[0]?.id)}.json` : 'chatbots.json';
  return downloadJson(name, exportBots(chosen));
}

async function importAll(context: ServiceContext, text: string): Promise<AdminActionResult> {
  const made = await importBots(text, chatbotsOf(context).bots);
  const [first] = made;
  return made.length === 1 && first
    ? {
        notice: { kind: 'success', text: `${first.name} is imported.` },
        redirect: `${editSlug}?id=${String(first.id)}`,
      }
    : { notice: { kind: 'success', text: `${String(made.length)} chatbots are imported.` }, redirect: botsSlug };
}
