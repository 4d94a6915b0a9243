import type { Rule, RuleEvent } from '../rules/rule.ts';

/** The rules of an event, low priority first and of equal ones in the order of the list: as they run. */
export function inRunOrder(rules: readonly Rule[], event: RuleEvent): Rule[] {
  return rules.filter((rule) => rule.event === event).sort((left, right) => left.priority - right.priority);
}

/** The rules with one a place sooner (-1) or later (1) among those of its event; it takes the priority of the one it passes where that differs. */
export function movedRule(rules: readonly Rule[], id: string, by: -1 | 1): readonly Rule[] {
  const rule = rules.find((candidate) => candidate.id === id);
  if (!rule) return rules;
  const order = inRunOrder(rules, rule.event);
  const passed = order[order.indexOf(rule) + by];
  if (!passed) return rules;
  const others = rules.filter((candidate) => candidate !== rule);
  const at = others.indexOf(passed) + (by === 1 ? 1 : 0);
  return [...others.slice(0, at), { ...rule, priority: passed.priority }, ...others.slice(at)];
}
