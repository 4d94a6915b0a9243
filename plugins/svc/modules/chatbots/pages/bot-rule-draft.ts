import { readNumber, valueAt } from '#plugin-api';
import type { Rule } from '../rules/rule.ts';

/** A condition as typed in the form. `which` is the name of a variable or the id of a field. */
export interface ConditionDraft {
  readonly fact: string;
  readonly which: string;
  readonly operator: string;
  readonly value: string;
}

/** A rule as typed in the form, with the fields of every action. */
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
    readonly url: string;
  };
}

/** Upper bound of posted rows. The schema of bots allows fewer. */
const maxConditions = 200;

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
      url: own['url'] ?? '',
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
    action: {
      type: form === '' ? 'reply' : 'display_form',
      text: '',
      form_id: form,
      name: '',
      value: '',
      hook: '',
      url: '',
    },
  };
}

/** Reads the posted form. */
export function readRule(form: Readonly<Record<string, unknown>>): RuleDraft {
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
      .slice(0, maxConditions)
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
      url: text('action.url').trim(),
    },
  };
}

/** The rule to save. It is not validated here: the bot store does that. */
export function toRule({ conditions, action, priority, ...rule }: RuleDraft): Record<string, unknown> {
  const { type, text, form_id, name, value, hook, url } = action;
  const own =
    type === 'display_form'
      ? { form_id }
      : type === 'set_variable' || type === 'store'
        ? { name, value }
        : type === 'call_hook'
          ? { name: hook }
          : type === 'call_url'
            ? { url }
            : { text };
  return {
    ...rule,
    priority: priority === '' ? 10 : readNumber(priority),
    conditions: conditions.map(({ fact, which, operator, value: expected }) => ({
      fact: fact === 'variable' || fact === 'field' ? `${fact}:${which}` : fact,
      operator,
      value: operator.endsWith('_empty') ? '' : expected,
    })),
    action: { type, ...own },
  };
}
