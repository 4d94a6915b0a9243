import { RestError, type AdminActionResult, type AdminPageBody, type AdminRequest } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { textOf } from '../../../admin-ui/form-values.ts';
import { savingOrRefused } from '../../../admin-ui/with-field-errors.ts';
import type { Bot } from '../bots/bot.ts';
import { botOfForm, botOfQuery } from './bot-of.ts';
import { freshId, readEdit } from '../../../admin-ui/list-edits.ts';
import { rulesSlug } from './bot-pages.ts';
import { draftOfRule, newCondition, newRule, readRule, ruleOf, type RuleDraft } from './bot-rule-draft.ts';
import { botRuleView } from './bot-rule-view.ts';
import { ownFaults } from './bot-of.ts';
import { eventWords } from './bot-rule-words.ts';

const template = 'svc/bot-rule';

/** One rule: when, if, then. `?rule=` edits it; without it a new one begins, `&event=` and `&form=` fill it in. */
export function botRulePage(parts: ChatbotParts): AdminPageBody {
  return {
    render: async (request) => {
      const bot = await botOfQuery(parts, request, 'bot');
      return { template, data: botRuleView(parts, bot, { draft: draftOf(bot, request.query) }) };
    },
    actions: {
      save: (request) => save(parts, request),
      arrange: async (request) => {
        const bot = await botOfForm(parts, request, 'bot');
        return {
          page: {
            template,
            data: botRuleView(parts, bot, { draft: arranged(readRule(request.form), request.form['_do']) }),
          },
        };
      },
    },
  };
}

function draftOf(bot: Bot, { rule: id, event, form }: AdminRequest['query']): RuleDraft {
  if (typeof id !== 'string')
    return newRule({
      event: typeof event === 'string' && Object.hasOwn(eventWords, event) ? event : 'message_received',
      form: typeof form === 'string' ? form : '',
    });
  const rule = bot.rules.find((candidate) => candidate.id === id);
  if (!rule)
    throw new RestError({
      code: 'rest_svc_no_rule',
      status: 404,
      message: 'There is no such rule. It may have been deleted.',
    });
  return draftOfRule(rule);
}

/** What a button beside the conditions asks for. Nothing is saved. */
function arranged(draft: RuleDraft, asked: unknown): RuleDraft {
  const { verb, at } = readEdit(asked);
  if (verb === 'add') return { ...draft, conditions: [...draft.conditions, newCondition] };
  if (verb === 'remove') return { ...draft, conditions: draft.conditions.filter((_condition, place) => place !== at) };
  return draft;
}

async function save(parts: ChatbotParts, request: AdminRequest): Promise<AdminActionResult> {
  const bot = await botOfForm(parts, request, 'bot');
  const draft = readRule(request.form);
  const place = bot.rules.findIndex(({ id }) => id === draft.id);
  const at = place === -1 ? bot.rules.length : place;
  const rule = {
    ...ruleOf(draft),
    id:
      place === -1
        ? freshId(
            draft.name,
            bot.rules.map(({ id }) => id),
            draft.action.type.replaceAll('_', '-'),
          )
        : draft.id,
  };
  return savingOrRefused(
    () =>
      ownFaults(`rules[${String(at)}]`, async () => {
        await parts.bots.update(bot.id, {
          rules: place === -1 ? [...bot.rules, rule] : bot.rules.map((other, index) => (index === at ? rule : other)),
        });
        return {
          notice: { kind: 'success', text: `${textOf(request, 'name').trim() || 'The rule'} is saved.` },
          redirect: `${rulesSlug}?bot=${String(bot.id)}`,
        };
      }),
    {
      inputName: (name) => name,
      page: async (faults) => ({ template, data: botRuleView(parts, bot, { draft, faults }) }),
    },
  );
}
