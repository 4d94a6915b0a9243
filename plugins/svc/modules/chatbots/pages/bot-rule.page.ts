import { fieldError, withNotice, withFieldErrors, restError } from '#plugin-api';
import type { Choice, AdminActionResult, AdminPageBody, AdminRequest, AdminView } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import type { Bot } from '../bots/bot.ts';
import { findBotInForm, findBotInQuery, saveBotPart } from './bot-request.ts';
import { uniqueId, readEdit } from '../../../admin-ui/list-edits.ts';
import { rulesSlug, formSlug } from './bot-page-slugs.ts';
import { toRuleDraft, newCondition, newRule, readRule, toRule, type RuleDraft } from './bot-rule-draft.ts';
import { eventLabels, actionChoices, factChoices, operatorChoices, ruleTitle } from './bot-rule-labels.ts';
import { botPartView, botTrail, type TypedPart } from './bot-head.ts';

const template = 'svc/bot-rule';

/** Edits one rule: when, if, then. `?rule=` names it. Without it the rule is new; `&event=` and `&form=` prefill it. */
export function createPage(parts: ChatbotParts): AdminPageBody {
  return {
    render: async (request) => {
      const bot = await findBotInQuery(parts, request, 'bot');
      return rulePage(parts, bot, { draft: draftOf(bot, request.query) });
    },
    actions: {
      save: (request) => save(parts, request),
      arrange: async (request) => {
        const bot = await findBotInForm(parts, request, 'bot');
        return { page: rulePage(parts, bot, { draft: arrange(readRule(request.form), request.form['_do']) }) };
      },
    },
  };
}

function draftOf(bot: Bot, { rule: id, event, form }: AdminRequest['query']): RuleDraft {
  if (typeof id !== 'string')
    return newRule({
      event: typeof event === 'string' && Object.hasOwn(eventLabels, event) ? event : 'message_received',
      form: typeof form === 'string' ? form : '',
    });
  const rule = bot.rules.find((candidate) => candidate.id === id);
  if (!rule) throw restError(404, 'rest_svc_no_rule', 'This rule does not exist. It may have been deleted.');
  return toRuleDraft(rule);
}

/** Applies a button beside the conditions: add or remove. Nothing is saved. */
function arrange(draft: RuleDraft, edit: unknown): RuleDraft {
  const { verb, at } = readEdit(edit);
  if (verb === 'add') return { ...draft, conditions: [...draft.conditions, newCondition] };
  if (verb === 'remove') return { ...draft, conditions: draft.conditions.filter((_condition, index) => index !== at) };
  return draft;
}

async function save(parts: ChatbotParts, request: AdminRequest): Promise<AdminActionResult> {
  const bot = await findBotInForm(parts, request, 'bot');
  const draft = readRule(request.form);
  const savedIndex = bot.rules.findIndex(({ id }) => id === draft.id);
  const at = savedIndex === -1 ? bot.rules.length : savedIndex;
  const rule = {
    ...toRule(draft),
    id:
      savedIndex === -1
        ? uniqueId(
            draft.name,
            bot.rules.map(({ id }) => id),
            draft.action.type.replaceAll('_', '-'),
          )
        : draft.id,
  };
  return withFieldErrors(
    () =>
      saveBotPart(`rules[${String(at)}]`, async () => {
        await parts.bots.update(bot.id, {
          rules:
            savedIndex === -1 ? [...bot.rules, rule] : bot.rules.map((other, index) => (index === at ? rule : other)),
        });
        return withNotice('success', `${readText(request, 'name').trim() || 'Rule'} saved.`, {
          redirect: `${rulesSlug}?bot=${String(bot.id)}`,
        });
      }),
    async (errors) => rulePage(parts, bot, { draft, errors }),
  );
}

function rulePage(parts: ChatbotParts, bot: Bot, typed: TypedPart<RuleDraft>): AdminView {
  const rule = bot.rules.find(({ id }) => id === typed.draft.id);
  return {
    template,
    title: rule ? ruleTitle(rule, bot) : 'New rule',
    trail: botTrail(parts.host, bot, 'rules'),
    data: botRuleView(parts, bot, typed),
  };
}

/** The data of `svc/bot-rule`. */
function botRuleView(
  { host }: ChatbotParts,
  bot: Bot,
  { draft, errors = {} }: TypedPart<RuleDraft>,
): Record<string, unknown> {
  const error = (path: string, label: string): string | undefined => fieldError(errors, path, label);
  return {
    ...botPartView(host, bot, { part: 'rules', errors }),
    isNew: draft.id === '',
    rule: draft.id,
    name: draft.name,
    nameError: error('name', 'Name'),
    enabled: draft.enabled,
    event: draft.event,
    events: Object.entries(eventLabels).map(([value, label]) => ({ value, label })),
    eventError: error('event', 'When'),
    priority: draft.priority,
    priorityError: error('priority', 'Priority'),
    conditions: draft.conditions.map((condition, at) => conditionRow(condition, at, error)),
    conditionsError: errors['conditions'],
    action: actionRow(bot, draft, error),
    formHref: `${host.admin.url(formSlug)}?bot=${String(bot.id)}`,
    deleteFields: { bot: bot.id, rule: draft.id },
  };
}

type ErrorAt = (path: string, label: string) => string | undefined;

function conditionRow(
  { fact, which, operator, value }: RuleDraft['conditions'][number],
  at: number,
  error: ErrorAt,
): Record<string, unknown> {
  const path = `conditions[${String(at)}]`;
  const named = fact === 'variable' || fact === 'field';
  const wrongFact = error(`${path}.fact`, 'Fact');
  return {
    at,
    number: at + 1,
    facts: factChoices,
    operators: operatorChoices,
    fact,
    which,
    operator,
    value,
    rows: Math.min(6, Math.max(1, value.split('\n').length)),
    factError: named ? undefined : wrongFact,
    whichError: named && wrongFact !== undefined ? 'The name must contain only letters, digits, - and _.' : undefined,
    operatorError: error(`${path}.operator`, 'Comparison'),
    valueError: error(`${path}.value`, 'Value'),
    remove: `remove:${String(at)}`,
  };
}

function actionRow(bot: Bot, { action }: RuleDraft, error: ErrorAt): Record<string, unknown> {
  const forms: Choice[] = bot.forms.map(({ id, name }) => ({ value: id, label: name, isData: true }));
  const isDeleted = action.form_id !== '' && !forms.some(({ value }) => value === action.form_id);
  const nameError = error('action.name', 'Name');
  return {
    ...action,
    types: actionChoices,
    typeError: error('action.type', 'Action'),
    textError: error('action.text', 'Text'),
    forms: isDeleted ? [...forms, { value: action.form_id, label: `${action.form_id} (deleted)` }] : forms,
    hasForms: forms.length > 0,
    formError:
      forms.length === 0 && action.type === 'display_form' && error('action.form_id', 'Form') !== undefined
        ? 'This chatbot has no form yet. Create one first.'
        : error('action.form_id', 'Form'),
    nameError: action.type === 'call_hook' ? undefined : nameError,
    hookError: action.type === 'call_hook' ? nameError : undefined,
    valueError: error('action.value', 'Value'),
    urlError: error('action.url', 'URL'),
  };
}
