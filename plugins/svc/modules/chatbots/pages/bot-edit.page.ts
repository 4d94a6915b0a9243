import { inputName, readForm, RestError, sectionPaths, valueAt, withFieldErrors } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { missingSettings } from '../../../settings/configured.ts';
import type { Bot } from '../bots/bot.ts';
import { readLimits, requireAmounts } from '../../../admin-ui/assistant-fields.ts';
import { botSchema } from '../bots/schema/bot-schema.ts';
import { botEditView, type Typed } from './bot-edit-view.ts';
import { botLayout } from './bot-layout.ts';
import { findBotInForm, findBotInQuery } from './bot-request.ts';
import { editSlug } from './bot-page-slugs.ts';

/** Milliseconds. Short, because the administrator is waiting for the page. */
const listTimeout = 5_000;
const maxTargets = 500;

/** Edits all settings of a bot except its rules and forms, beside a preview. */
export function createPage(parts: ChatbotParts): AdminPageBody {
  return {
    render: async (request) => editPage(parts, await findBotInQuery(parts, request)),
    actions: {
      save: (request) => save(parts, request),
      targets: (request) => showTargets(parts, request),
    },
  };
}

async function editPage(parts: ChatbotParts, bot: Bot, typed?: Typed): Promise<NonNullable<AdminActionResult['page']>> {
  return { template: 'svc/bot-edit', title: bot.name, data: await botEditView(parts, bot, typed) };
}

async function save(parts: ChatbotParts, request: AdminRequest): Promise<AdminActionResult> {
  const bot = await findBotInForm(parts, request);
  const draft = readDraft(request);
  return withFieldErrors(
    async () => {
      requireAmounts(request.form);
      const saved = await parts.bots.update(bot.id, draft);
      return { notice: savedNotice(saved), redirect: `${editSlug}?id=${String(bot.id)}` };
    },
    (errors) => editPage(parts, bot, { draft, errors }),
    inputName,
  );
}

function savedNotice({ name, status }: Bot): NonNullable<AdminActionResult['notice']> {
  return {
    kind: 'success',
    text: status === 'active' ? `${name} saved.` : `${name} saved. It is inactive, so visitors cannot use it yet.`,
  };
}

function readDraft({ form }: AdminRequest): Typed['draft'] {
  const settings = readForm(botSchema, form, { paths: sectionPaths(botLayout) });
  const limits = settings['limits'] as object | undefined;
  return limits === undefined ? settings : { ...settings, limits: { ...limits, ...readLimits(botSchema, form) } };
}

/** Lists the indexes or collections of the chosen vector store. Nothing is saved. */
async function showTargets(parts: ChatbotParts, request: AdminRequest): Promise<AdminActionResult> {
  const bot = await findBotInForm(parts, request);
  const draft = readDraft(request);
  const targets = await listTargets(parts, valueAt(draft, 'knowledge.store'));
  return {
    data: { targets },
    page: await editPage(parts, bot, { draft, errors: {}, targets }),
    status: 200,
  };
}

async function listTargets(parts: ChatbotParts, chosen: unknown): Promise<NonNullable<Typed['targets']>> {
  const store = typeof chosen === 'string' ? parts.vectorStores.get(chosen) : undefined;
  if (!store) return { names: [], note: 'Choose a vector store first.' };
  if (missingSettings(store, await parts.vectorStoreSettings.effective(store.id)).length > 0)
    return { names: [], note: `${store.label} is not set up yet. Connect it under AI settings, Vector stores.` };
  try {
    const session = await parts.openVectorStore(store.id, { timeout: listTimeout, retries: false });
    const names = (await session.list())
      .map(({ name }) => name)
      .sort((left, right) => left.localeCompare(right))
      .slice(0, maxTargets);
    return {
      names,
      note:
        names.length === 0
          ? `${store.label} is empty. Create an index or collection under AI settings, Vector stores.`
          : `${store.label} contains: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}`,
    };
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    return { names: [], note: error.message };
  }
}
