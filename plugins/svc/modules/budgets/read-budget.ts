import { readFieldValue } from '../../settings/field-value.ts';
import { budgetDefaults, budgetSchema, scopeMember, scopeMembers, type Budget, type ScopeMember } from './budget.ts';

/** A budget, or a sentence for each invalid member, by its name. */
export type BudgetReading = { readonly budget: Budget } | { readonly errors: Readonly<Record<string, string>> };

/** Reads a budget from JSON or a form: missing members get their defaults, members that its choices do not use are dropped. */
export function readBudget(values: Readonly<Record<string, unknown>>): BudgetReading {
  const read: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const [name, schema] of Object.entries(budgetSchema.properties)) {
    const given = Object.hasOwn(values, name) ? values[name] : undefined;
    const reading = readFieldValue(name, schema, given);
    if ('error' in reading) errors[name] = reading.error;
    else if (reading.value !== undefined) read[name] = reading.value;
  }
  const budget = { ...budgetDefaults, ...read } as Budget;
  const all = { ...missing(budget), ...errors };
  return Object.keys(all).length > 0 ? { errors: all } : { budget: tidy(budget) };
}

function missing(budget: Partial<Budget>): Record<string, string> {
  const errors: Record<string, string> = {};
  if (!budget.id) errors['id'] = 'Set an id of lower-case letters, digits and hyphens.';
  if (!budget.name?.trim()) errors['name'] = 'Enter a name. Alerts and errors show it.';
  if (budget.amount === undefined || budget.amount <= 0) errors['amount'] = 'Enter an amount above 0.';
  else if (budget.unit !== 'dollars' && !Number.isInteger(budget.amount))
    errors['amount'] = `Enter a whole number of ${String(budget.unit)}.`;
  else if (budget.unit === 'dollars' && budget.amount < 0.000001)
    errors['amount'] = 'The smallest amount is $0.000001.';
  const member = scopeMember(budget.scope ?? '');
  if (member !== null && !budget[member]) errors[member] = missingMember[member];
  if (budget.at_limit === 'fallback' && !budget.fallback_provider)
    errors['fallback_provider'] = 'Choose a fallback provider.';
  if (budget.at_limit === 'fallback' && !budget.fallback_model?.trim())
    errors['fallback_model'] = 'Enter a fallback model.';
  return errors;
}

const missingMember: Readonly<Record<ScopeMember, string>> = {
  module: 'Choose the module to limit.',
  bot_id: 'Choose the chatbot to limit.',
  key_id: 'Choose the key to limit.',
  user_id: 'Enter the user to limit.',
  role: 'Choose the role to limit.',
  plugin: 'Choose the plugin to limit.',
};

function tidy({ fallback_provider, fallback_model, ...budget }: Budget): Budget {
  const unused = Object.values(scopeMembers).filter((member) => member !== scopeMember(budget.scope));
  return {
    ...(Object.fromEntries(
      Object.entries(budget).filter(([name]) => !unused.some((member) => member === name)),
    ) as unknown as Budget),
    name: budget.name.trim(),
    ...(budget.at_limit === 'fallback' &&
      fallback_provider !== undefined &&
      fallback_model !== undefined && { fallback_provider, fallback_model: fallback_model.trim() }),
  };
}
