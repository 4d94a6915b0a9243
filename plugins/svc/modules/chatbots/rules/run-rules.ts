import type { Rule, RuleEvent, RuleFacts, RuleOutcome, RuleCondition } from './rule.ts';
import { foldText } from '../../../kit/fold-text.ts';

/** Longest value a placeholder brings in, in characters: a message of a visitor is not for ever. */
const longest = 4000;

/**
 * Fills in `{message}`, `{page_url}`, `{form_id}`, `{error_code}`, `{variable:name}` and `{field:id}`; what is not known
 * becomes empty, other braces stay. What is brought in is not looked at again.
 */
function fillValue(text: string, facts: RuleFacts): string {
  return text.replace(/\{(message|page_url|form_id|error_code|variable:[\w-]+|field:[\w-]+)\}/g, (_, name: string) =>
    textOf(name, facts).slice(0, longest),
  );
}

/** The text a placeholder or the fact of a condition stands for. */
function textOf(name: string, facts: RuleFacts): string {
  if (name.startsWith('variable:')) return own(facts.variables, name.slice('variable:'.length));
  if (name.startsWith('field:')) return own(facts.fields, name.slice('field:'.length));
  switch (name) {
    case 'message':
      return facts.message;
    case 'page_url':
      return facts.page_url;
    case 'form_id':
      return facts.form_id;
    case 'error_code':
      return facts.error_code;
    case 'message_count':
      return String(facts.message_count);
    case 'hour':
      return String(facts.hour);
    case 'weekday':
      return String(facts.weekday);
    case 'signed_in':
      return facts.signed_in ? 'yes' : 'no';
    default:
      return '';
  }
}

function own(values: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(values, name) ? (values[name] ?? '') : '';
}

/** An outcome that grows while rules run. */
interface Growing {
  matched: string[];
  reply: string | null;
  block: string | null;
  contexts: string[];
  forms: string[];
  variables: Record<string, string>;
  stored: { name: string; value: string }[];
  hooks: string[];
}

/**
 * Runs the rules of a bot for one event: those that are switched on, low priority first and in the order of the list
 * where it is equal. A rule whose conditions all hold acts; the first reply or block ends the run. A variable that a rule
 * sets is seen by the rules after it. Pure: nothing is stored or sent.
 */
export function runRules(rules: readonly Rule[], event: RuleEvent, facts: RuleFacts): RuleOutcome {
  const outcome: Growing = {
    matched: [],
    reply: null,
    block: null,
    contexts: [],
    forms: [],
    variables: { ...facts.variables },
    stored: [],
    hooks: [],
  };
  const inOrder = rules
    .filter((rule) => rule.enabled && rule.event === event)
    .sort((left, right) => left.priority - right.priority);
  for (const rule of inOrder) {
    const seen = { ...facts, variables: outcome.variables };
    if (!rule.conditions.every((condition) => conditionHolds(condition, seen))) continue;
    outcome.matched.push(rule.id);
    act(rule, seen, outcome);
    if (outcome.reply !== null || outcome.block !== null) break;
  }
  return outcome;
}

function act({ action }: Rule, facts: RuleFacts, outcome: Growing): void {
  switch (action.type) {
    case 'reply':
      outcome.reply = fillValue(action.text, facts);
      break;
    case 'block':
      outcome.block = fillValue(action.text, facts);
      break;
    case 'add_context':
      outcome.contexts.push(fillValue(action.text, facts));
      break;
    case 'display_form':
      if (!outcome.forms.includes(action.form_id)) outcome.forms.push(action.form_id);
      break;
    case 'set_variable':
      outcome.variables = { ...outcome.variables, [action.name]: fillValue(action.value, facts) };
      break;
    case 'store':
      outcome.stored.push({ name: action.name, value: fillValue(action.value, facts) });
      break;
    case 'call_hook':
      outcome.hooks.push(action.name);
  }
}

/**
 * Whether a condition holds. Texts are compared without regard to case and accents, and without blanks around them. Of a fact
 * with several values (the roles of a user) one that fits is enough, and `not_` asks that none does. A comparison of
 * numbers with something that is none does not hold.
 */
function conditionHolds({ fact, operator, value }: RuleCondition, facts: RuleFacts): boolean {
  const given = fact === 'role' ? facts.roles : [textOf(fact, facts)];
  const known = given.map(normal);
  const wanted = value
    .split('\n')
    .map(normal)
    .filter((line) => line !== '');
  switch (operator) {
    case 'contains':
      return some(known, wanted, (text, part) => text.includes(part));
    case 'not_contains':
      return !some(known, wanted, (text, part) => text.includes(part));
    case 'equals':
      return equals(known, wanted);
    case 'not_equals':
      return !equals(known, wanted);
    case 'starts_with':
      return some(known, wanted, (text, part) => text.startsWith(part));
    case 'ends_with':
      return some(known, wanted, (text, part) => text.endsWith(part));
    case 'greater_than':
      return compare(given, value, (left, right) => left > right);
    case 'less_than':
      return compare(given, value, (left, right) => left < right);
    case 'is_empty':
      return known.every((text) => text === '');
    case 'is_not_empty':
      return known.some((text) => text !== '');
  }
}

function normal(text: string): string {
  return foldText(text).trim();
}

function some(
  known: readonly string[],
  wanted: readonly string[],
  fits: (text: string, part: string) => boolean,
): boolean {
  return known.some((text) => wanted.some((part) => fits(text, part)));
}

/** No value at all equals what is empty. */
function equals(known: readonly string[], wanted: readonly string[]): boolean {
  return wanted.length === 0
    ? known.every((text) => text === '')
    : some(known, wanted, (text, other) => text === other);
}

function compare(given: readonly string[], value: string, holds: (left: number, right: number) => boolean): boolean {
  const right = numberOf(value);
  return (
    right !== null &&
    given.some((text) => {
      const left = numberOf(text);
      return left !== null && holds(left, right);
    })
  );
}

function numberOf(text: string): number | null {
  const trimmed = text.trim();
  // A decimal comma is what people write in half of the world.
  const number =
    trimmed === '' ? Number.NaN : Number(/^-?\d+,\d+$/.test(trimmed) ? trimmed.replace(',', '.') : trimmed);
  return Number.isFinite(number) ? number : null;
}
