import type { ChatbotParts } from '../chatbots.ts';
import type { FieldFaults } from '../../../kit/field-errors.ts';
import type { Bot } from '../bots/bot.ts';
import { faultAt, type Choice } from '../../../admin-ui/setting-field.ts';
import { botHead, botPreview } from './bot-head.ts';
import { formSlug, rulesSlug } from './bot-pages.ts';
import type { RuleDraft } from './bot-rule-draft.ts';
import { actionChoices, eventWords, factChoices, operatorChoices } from './bot-rule-words.ts';

export interface TypedRule {
  readonly draft: RuleDraft;
  readonly faults?: FieldFaults;
}

/** The data of `svc/bot-rule`. */
export function botRuleView(
  { host }: ChatbotParts,
  bot: Bot,
  { draft, faults = {} }: TypedRule,
): Record<string, unknown> {
  const fault = (path: string, label: string): string | undefined => faultAt(faults, { path, label });
  return {
    head: botHead(host, bot, 'rules'),
    preview: botPreview(host, bot),
    bot: bot.id,
    isNew: draft.id === '',
    rule: draft.id,
    name: draft.name,
    nameFault: fault('name', 'Name'),
    enabled: draft.enabled,
    event: draft.event,
    events: Object.entries(eventWords).map(([value, { title }]) => ({ value, label: title })),
    eventFault: fault('event', 'When'),
    priority: draft.priority,
    priorityFault: fault('priority', 'Priority'),
    conditions: draft.conditions.map((condition, at) => conditionRow(condition, at, fault)),
    conditionsFault: faults['conditions'],
    action: actionRow(bot, draft, fault),
    formHref: `${host.admin.url(formSlug)}?bot=${String(bot.id)}`,
    backHref: `${host.admin.url(rulesSlug)}?bot=${String(bot.id)}`,
    deleteFields: { bot: bot.id, rule: draft.id },
    others: Object.entries(faults)
      .filter(([path]) => /^(rules|forms)\[/.test(path))
      .map(([, sentence]) => sentence),
  };
}

type Fault = (path: string, label: string) => string | undefined;

function conditionRow(
  { fact, which, operator, value }: RuleDraft['conditions'][number],
  at: number,
  fault: Fault,
): Record<string, unknown> {
  const path = `conditions[${String(at)}]`;
  const named = fact === 'variable' || fact === 'field';
  const wrongFact = fault(`${path}.fact`, 'Fact');
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
    factFault: named ? undefined : wrongFact,
    whichFault: named && wrongFact !== undefined ? 'The name may hold letters, digits, - and _ only.' : undefined,
    operatorFault: fault(`${path}.operator`, 'Comparison'),
    valueFault: fault(`${path}.value`, 'Value'),
    remove: `remove:${String(at)}`,
  };
}

function actionRow(bot: Bot, { action }: RuleDraft, fault: Fault): Record<string, unknown> {
  const forms: Choice[] = bot.forms.map(({ id, name }) => ({ value: id, label: name }));
  const gone = action.form_id !== '' && !forms.some(({ value }) => value === action.form_id);
  const nameFault = fault('action.name', 'Name');
  return {
    ...action,
    types: actionChoices,
    typeFault: fault('action.type', 'Action'),
    textFault: fault('action.text', 'Text'),
    forms: gone ? [...forms, { value: action.form_id, label: `${action.form_id} (not there)` }] : forms,
    hasForms: forms.length > 0,
    formFault:
      forms.length === 0 && action.type === 'display_form' && fault('action.form_id', 'Form') !== undefined
        ? 'This chatbot has no form yet. Make one first.'
        : fault('action.form_id', 'Form'),
    nameFault: action.type === 'call_hook' ? undefined : nameFault,
    hookFault: action.type === 'call_hook' ? nameFault : undefined,
    valueFault: fault('action.value', 'Value'),
  };
}
