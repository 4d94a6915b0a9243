import type { Rule, RuleEvent, RuleFacts, RuleOutcome, RuleCondition } from './rule.ts';
import { matchesPattern } from './match-pattern.ts';
import { foldText } from '../../../kit/fold-text.ts';

/** Most characters that a placeholder inserts, because a visitor's message can be long. */
const maxValueLength = 4000;

/**
 * Replaces `{message}`, `{page_url}`, `{form_id}`, `{error_code}`, `{variable:name}` and `{field:id}`. Unknown names become
 * empty; other braces stay. Placeholders in an inserted value are not replaced.
 */
function fillValue(text: string, facts: RuleFacts): string {
  return text.replace(/\{(message|page_url|form_id|error_code|variable:[\w-]+|field:[\w-]+)\}/g, (_, name: string) =>
    factText(name, facts).slice(0, maxValueLength),
  );
}

/** The value of a placeholder, or of the fact of a condition, as text. */
function factText(name: string, facts: RuleFacts): string {
  if (name.startsWith('variable:')) return ownValue(facts.variables, name.slice('variable:'.length));
  if (name.startsWith('field:')) return ownValue(facts.fields, name.slice('field:'.length));
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

function ownValue(values: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(values, name) ? (values[name] ?? '') : '';
}

/** The outcome while rules run. */
interface MutableOutcome {
  matched: string[];
  reply: string | null;
  block: string | null;
  contexts: string[];
  forms: string[];
  variables: Record<string, string>;
  stored: { name: string; value: string }[];
  hooks: string[];
  urls: { rule: string; url: string }[];
}

/**
 * Runs the enabled rules of a bot for one event, by priority and then by their order in the list. A rule acts if all its
 * conditions match; the first reply or block ends the run. Later rules see the variables that earlier rules set. Pure
 * function: nothing is stored or sent.
 */
export function runRules(rules: readonly Rule[], event: RuleEvent, facts: RuleFacts): RuleOutcome {
  const outcome: MutableOutcome = {
    matched: [],
    reply: null,
    block: null,
    contexts: [],
    forms: [],
    variables: { ...facts.variables },
    stored: [],
    hooks: [],
    urls: [],
  };
  const sorted = rules
    .filter((rule) => rule.enabled && rule.event === event)
    .sort((left, right) => left.priority - right.priority);
  for (const rule of sorted) {
    const current = { ...facts, variables: outcome.variables };
    if (!rule.conditions.every((condition) => conditionMatches(condition, current))) continue;
    outcome.matched.push(rule.id);
    applyAction(rule, current, outcome);
    if (outcome.reply !== null || outcome.block !== null) break;
  }
  return outcome;
}

function applyAction({ id, action }: Rule, facts: RuleFacts, outcome: MutableOutcome): void {
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
      break;
    case 'call_url':
      outcome.urls.push({ rule: id, url: action.url });
  }
}

/**
 * Whether a condition matches. Comparisons ignore case, accents and surrounding white space; patterns ignore case.
 * If a fact has several values (a user's roles), one match is enough; `not_` requires that none matches. Comparing a
 * number with another text never matches.
 */
function conditionMatches({ fact, operator, value }: RuleCondition, facts: RuleFacts): boolean {
  const given = fact === 'role' ? facts.roles : [factText(fact, facts)];
  const known = given.map(normalize);
  const wanted = value
    .split('\n')
    .map(normalize)
    .filter((line) => line !== '');
  switch (operator) {
    case 'contains':
      return someMatch(known, wanted, (text, part) => text.includes(part));
    case 'not_contains':
      return !someMatch(known, wanted, (text, part) => text.includes(part));
    case 'equals':
      return equals(known, wanted);
    case 'not_equals':
      return !equals(known, wanted);
    case 'starts_with':
      return someMatch(known, wanted, (text, part) => text.startsWith(part));
    case 'ends_with':
      return someMatch(known, wanted, (text, part) => text.endsWith(part));
    case 'matches':
      return given.some((text) => matchesPattern(text, value));
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

function normalize(text: string): string {
  return foldText(text).trim();
}

function someMatch(
  known: readonly string[],
  wanted: readonly string[],
  matches: (text: string, part: string) => boolean,
): boolean {
  return known.some((text) => wanted.some((part) => matches(text, part)));
}

/** An empty list of wanted values equals an empty text. */
function equals(known: readonly string[], wanted: readonly string[]): boolean {
  return wanted.length === 0
    ? known.every((text) => text === '')
    : someMatch(known, wanted, (text, other) => text === other);
}

function compare(given: readonly string[], value: string, matches: (left: number, right: number) => boolean): boolean {
  const right = parseNumber(value);
  return (
    right !== null &&
    given.some((text) => {
      const left = parseNumber(text);
      return left !== null && matches(left, right);
    })
  );
}

function parseNumber(text: string): number | null {
  const trimmed = text.trim();
  // Many languages use a decimal comma.
  const number =
    trimmed === '' ? Number.NaN : Number(/^-?\d+,\d+$/.test(trimmed) ? trimmed.replace(',', '.') : trimmed);
  return Number.isFinite(number) ? number : null;
}
