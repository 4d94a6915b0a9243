import type { Rule } from '../rules/rule.ts';
import { readNumber, valueAt, type Draft } from '../../../admin-ui/setting-field.ts';

/** A condition as it is typed: a fact that takes a name has it beside it. */
export interface ConditionDraft {
  readonly fact: string;
  readonly which: string;
  readonly operator: string;
  readonly value: string;
}

/** A rule as it is typed: the fields of every action, whichever is chosen. */
export interface RuleDraft {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly event: string;
  readonly priority: string;
  readonly conditions: readonly ConditionDraft[];
  readonly action: {
    readonly type: string;
    readonly text: string;
    readonly form_id: string;
    readonly name: string;
    readonly value: string;
    readonly hook: string;
  };
}

/** Conditions that one form takes; the bot's own bound is tighter. */
const mostConditions = 200;

export function toRuleDraft(rule: Rule): RuleDraft {
  const { action } = rule;
  const own: Readonly<Record<string, string>> = action;
  return {
    ...rule,
    priority: String(rule.priority),
    conditions: rule.conditions.map(({ fact, operator, value }) => {
      const [kind = '', which = ''] = fact.split(/:(.*)/s);
      return { fact: kind, which, operator, value };
    }),
    action: {
      type: action.type,
      text: own['text'] ?? '',
      form_id: own['form_id'] ?? '',
      name: action.type === 'call_hook' ? '' : (own['name'] ?? ''),
      value: own['value'] ?? '',
      hook: action.type === 'call_hook' ? action.name : '',
    },
  };
}

export const newCondition: ConditionDraft = { fact: 'message', which: '', operator: 'contains', value: '' };

export function newRule({ event, form }: { readonly event: string; readonly form: string }): RuleDraft {
  return {
    id: '',
    name: '',
    enabled: true,
    event,
    priority: '10',
    conditions: event === 'message_received' ? [newCondition] : [],
    action: { type: form === '' ? 'reply' : 'display_form', text: '', form_id: form, name: '', value: '', hook: '' },
  };
}

/** The posted form. */
export function readRule(form: Draft): RuleDraft {
  const text = (path: string): string => {
    const value = valueAt(form, path);
    return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : '';
  };
  const rows = valueAt(form, 'conditions');
  return {
    id: text('rule'),
    name: text('name').trim(),
    enabled: text('enabled') === '1',
    event: text('event'),
    priority: text('priority').trim(),
    conditions: Object.keys(typeof rows === 'object' && rows !== null ? rows : {})
      .slice(0, mostConditions)
      .map((key) => ({
        fact: text(`conditions.${key}.fact`),
        which: text(`conditions.${key}.which`).trim(),
        operator: text(`conditions.${key}.operator`),
        value: text(`conditions.${key}.value`),
      })),
    action: {
      type: text('action.type'),
      text: text('action.text'),
      form_id: text('action.form_id'),
      name: text('action.name').trim(),
      value: text('action.value'),
      hook: text('action.hook').trim(),
    },
  };
}

/** What is saved of it; right or wrong, the bots' own check tells. */
export function toRule({ conditions, action, priority, ...rule }: RuleDraft): Record<string, unknown> {
  const { type, text, form_id, name, value, hook } = action;
  const own =
    type === 'display_form'
      ? { form_id }
      : type === 'set_variable' || type === 'store'
        ? { name, value }
        : type === 'call_hook'
          ? { name: hook }
          : { text };
  return {
    ...rule,
    priority: priority === '' ? 10 : readNumber(priority),
    conditions: conditions.map(({ fact, which, operator, value: wanted }) => ({
      fact: fact === 'variable' || fact === 'field' ? `${fact}:${which}` : fact,
      operator,
      value: operator.endsWith('_empty') ? '' : wanted,
    })),
    action: { type, ...own },
  };
}
