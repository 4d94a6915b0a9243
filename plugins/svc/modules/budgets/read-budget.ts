import { readFieldValue } from '../../settings/field-value.ts';
import { budgetDefaults, budgetSchema, idMember, type Budget } from './budget.ts';

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
  if (budget.scope === 'module' && !budget.module) errors['module'] = 'Choose the module to limit.';
  if (budget.scope === 'bot' && budget.bot_id === undefined) errors['bot_id'] = 'Choose the chatbot to limit.';
  if (budget.scope === 'key' && budget.key_id === undefined) errors['key_id'] = 'Enter the ID of the key to limit.';
  if (budget.scope === 'user' && budget.user_id === undefined) errors['user_id'] = 'Enter the ID of the user to limit.';
  if (budget.at_limit === 'fallback' && !budget.fallback_provider)
    errors['fallback_provider'] = 'Choose a fallback provider.';
  if (budget.at_limit === 'fallback' && !budget.fallback_model?.trim())
    errors['fallback_model'] = 'Enter a fallback model.';
  return errors;
}

function tidy({ module, bot_id, key_id, user_id, fallback_provider, fallback_model, ...budget }: Budget): Budget {
  const member = idMember(budget.scope);
  const id = member && { bot_id, key_id, user_id }[member];
  return {
    ...budget,
    name: budget.name.trim(),
    ...(budget.scope === 'module' && module !== undefined && { module }),
    ...(member !== null && id !== undefined && { [member]: id }),
    ...(budget.at_limit === 'fallback' &&
      fallback_provider !== undefined &&
      fallback_model !== undefined && { fallback_provider, fallback_model: fallback_model.trim() }),
  };
}
