import { readFile } from 'node:fs/promises';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../context.ts';
import { faultsOf } from '../../../settings/invalid-fields.ts';
import { textOf } from '../../../settings/page/form-values.ts';
import { exportBots, importBots } from '../bots/bot-transfer.ts';
import { chatbotsOf } from '../chatbots.ts';
import { botOfForm } from './bot-of.ts';
import { botsSlug, editSlug } from './bot-pages.ts';
import { readyModel } from '../../../settings/ready-model.ts';
import { botTemplates, shownHere } from './bot-templates.ts';
import { botsView } from './bots-view.ts';

const template = 'svc/bots';
/** Characters of a pasted import; a file may have more. */
const mostPasted = 1_000_000;
/** Sentences shown about an import; the first ones tell enough. */
const mostFaults = 20;

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
        return { notice: { kind: 'success', text: status === 'active' ? `${name} is active.` : `${name} is inactive: it answers nobody.` } };
      },
      duplicate: async (request) => {
        const { id, name } = await chatbotsOf(context).bots.duplicate((await botOfForm(context, request)).id);
        return { notice: { kind: 'success', text: `${name} is there. It is inactive until you switch it on.` }, redirect: `${editSlug}?id=${String(id)}` };
      },
      delete: (request) => remove(context, request),
      export: (request) => download(context, request),
      import: (request) => takeIn(context, request),
    },
  };
}

/** A bot that answers at once, with the provider that is set up. Two clicks make one. */
async function makeFirst(context: ServiceContext): Promise<AdminActionResult> {
  const { bots } = chatbotsOf(context);
  const [there] = await bots.list();
  if (there) return { notice: { kind: 'info', text: `There is a chatbot already: ${there.name}.` }, redirect: `${editSlug}?id=${String(there.id)}` };
  const ready = await readyModel(context);
  const bot = await bots.create({ ...botTemplates[0]?.settings, ...shownHere, ...ready, name: 'Assistant' });
  return {
    notice: ready ? { kind: 'success', text: `${bot.name} is ready. Ask it something in the preview.` } : { kind: 'warning', text: `${bot.name} is there, but no provider is set up yet: it cannot answer until one is, or the sandbox is on.` },
    redirect: `${editSlug}?id=${String(bot.id)}`,
  };
}

async function remove(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const bot = await botOfForm(context, request);
  if (textOf(request, 'confirm') !== '1') return { notice: { kind: 'error', text: `Nothing was deleted. Tick the box to confirm that ${bot.name} is to go.` } };
  await chatbotsOf(context).bots.delete(bot.id);
  return { notice: { kind: 'success', text: `${bot.name} is deleted. Its conversations stay in the logs.` } };
}

async function download(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const { bots } = chatbotsOf(context);
  const chosen = textOf(request, 'id') === '' ? await bots.list() : [await botOfForm(context, request)];
  const name = chosen.length === 1 ? `chatbot-${String(chosen[0]?.id)}.json` : 'chatbots.json';
  const content = `${JSON.stringify(exportBots(chosen), null, 2)}\n`;
  return { download: { name, type: 'application/json; charset=utf-8', content: pieces(content) } };
}

async function* pieces(content: string): AsyncGenerator<string> {
  yield await Promise.resolve(content);
}

/** From a file, or from what was pasted. All bots of it or none. */
async function takeIn(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const pasted = textOf(request, 'json');
  const file = request.files?.['file'];
  const refuse = async (faults: readonly string[]): Promise<AdminActionResult> => ({
    notice: { kind: 'error', text: 'Nothing was imported.' },
    page: { template, data: await botsView(context, { text: file ? '' : pasted, faults: faults.slice(0, mostFaults) }) },
    status: 400,
  });
  if (!file && pasted.trim() === '') return refuse(['Choose a file, or paste what an export holds.']);
  if (!file && pasted.length > mostPasted) return refuse(['This is too long to paste. Choose it as a file.']);
  try {
    const made = await importBots(file ? await readFile(file.path, 'utf8') : pasted, chatbotsOf(context).bots);
    const [first] = made;
    return made.length === 1 && first
      ? { notice: { kind: 'success', text: `${first.name} is imported.` }, redirect: `${editSlug}?id=${String(first.id)}` }
      : { notice: { kind: 'success', text: `${String(made.length)} chatbots are imported.` }, redirect: botsSlug };
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return refuse(Object.values(faults));
  }
}
