import { conditionHolds } from './condition.ts';
import { fillValue } from './fill-value.ts';
import type { Rule, RuleEvent, RuleFacts, RuleOutcome } from './rule.ts';

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
