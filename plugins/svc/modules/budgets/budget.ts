import type { JsonSchema } from '#plugin-api';

/** Scopes of one thing: the member that names it, which is also the column of counters. */
export const scopeMembers = {
  module: 'module',
  bot: 'bot_id',
  key: 'key_id',
  user: 'user_id',
  role: 'role',
  plugin: 'plugin',
} as const;
export type ScopeMember = (typeof scopeMembers)[keyof typeof scopeMembers];

/** The member that names what a scope limits; null for a scope of many things. */
export function scopeMember(scope: string): ScopeMember | null {
  return Object.hasOwn(scopeMembers, scope) ? scopeMembers[scope as keyof typeof scopeMembers] : null;
}

/** What decides which calls a budget counts. */
export type BudgetScope = Pick<Budget, 'scope' | ScopeMember>;

/** A limit on the calls of a scope, per day or month of the site's time zone. */
export interface Budget {
  /** Lower-case letters, digits and hyphens. */
  readonly id: string;
  /** Shown in alerts and errors. */
  readonly name: string;
  readonly enabled: boolean;
  /**
   * Which calls count: all, those of the REST API, those of a module, a chatbot, a named key, a signed-in user, a plugin,
   * or those of all users with a role together.
   */
  readonly scope: 'all' | 'rest' | keyof typeof scopeMembers;
  /** Id of the module, for the scope `module`. */
  readonly module?: string;
  /** Id of the chatbot, for the scope `bot`. */
  readonly bot_id?: number;
  /** Id of the named key, for the scope `key`. */
  readonly key_id?: number;
  /** Id of the user, for the scope `user`. */
  readonly user_id?: number;
  /** Name of the role, for the scope `role`. */
  readonly role?: string;
  /** Slug of the plugin, for the scope `plugin`. */
  readonly plugin?: string;
  readonly unit: 'dollars' | 'tokens' | 'calls';
  readonly period: 'day' | 'month';
  /** US dollars, down to a millionth; or whole tokens of prompts and responses; or whole calls. */
  readonly amount: number;
  /** At the limit calls are refused, or made with the fallback model, which this budget does not limit. */
  readonly at_limit: 'stop' | 'fallback';
  readonly fallback_provider?: string;
  readonly fallback_model?: string;
  /** Percentage of the amount at which the action `svc_budget_alert` runs, once per period; 0: never. */
  readonly alert_percent: number;
  /** A call without a price under a budget of dollars: refused, or counted as free. */
  readonly unpriced: 'refuse' | 'free';
}

export const budgetDefaults = {
  enabled: true,
  scope: 'all',
  unit: 'dollars',
  period: 'month',
  at_limit: 'stop',
  alert_percent: 80,
  unpriced: 'refuse',
} as const;

const units = { dollars: 'US dollars', tokens: 'Tokens', calls: 'Calls' } as const;
const periods = { day: 'Day', month: 'Month' } as const;
const choicesAtLimit = { stop: 'Refuse calls', fallback: 'Fall back to a cheaper model' } as const;
const choicesUnpriced = { refuse: 'Refuse', free: 'Count as free' } as const;

/** One entry of the option `svc_budgets`. */
export const budgetSchema = {
  type: 'object',
  properties: {
    id: { type: 'string', title: 'id', pattern: '^[a-z0-9-]{1,40}$', required: true },
    name: { type: 'string', title: 'name', minLength: 1, maxLength: 80, required: true },
    enabled: { type: 'boolean', default: budgetDefaults.enabled },
    scope: {
      type: 'string',
      enum: ['all', 'rest', 'module', 'bot', 'key', 'user', 'role', 'plugin'],
      default: budgetDefaults.scope,
    },
    module: { type: 'string', pattern: '^[a-z0-9_-]{1,60}$' },
    bot_id: { type: 'integer', minimum: 1 },
    key_id: { type: 'integer', minimum: 1 },
    user_id: { type: 'integer', minimum: 1 },
    role: { type: 'string', pattern: '^[a-z0-9_-]{1,60}$' },
    plugin: { type: 'string', pattern: '^[a-z0-9-]{1,60}$', ui: { mono: true } },
    unit: { type: 'string', enum: ['dollars', 'tokens', 'calls'], default: budgetDefaults.unit, ui: { labels: units } },
    period: { type: 'string', enum: ['day', 'month'], default: budgetDefaults.period, ui: { labels: periods } },
    amount: { type: 'number', exclusiveMinimum: 0, maximum: 1_000_000_000_000, required: true },
    at_limit: {
      type: 'string',
      enum: ['stop', 'fallback'],
      default: budgetDefaults.at_limit,
      ui: { labels: choicesAtLimit },
    },
    fallback_provider: { type: 'string', maxLength: 60 },
    fallback_model: { type: 'string', maxLength: 200, ui: { mono: true } },
    alert_percent: { type: 'integer', minimum: 0, maximum: 100, default: budgetDefaults.alert_percent },
    unpriced: {
      type: 'string',
      enum: ['refuse', 'free'],
      default: budgetDefaults.unpriced,
      ui: { labels: choicesUnpriced },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const budgetsOption = 'svc_budgets';

export const budgetsSchema = {
  type: 'array',
  items: budgetSchema,
  maxItems: 200,
  default: [],
} as const satisfies JsonSchema;

/** The amount in the unit of counters: millionths of a US dollar, tokens, calls. */
export function amountOf({ amount, unit }: Pick<Budget, 'amount' | 'unit'>): number {
  return unit === 'dollars' ? Math.round(amount * 1_000_000) : Math.floor(amount);
}

/** The amount at which the alert runs, in the unit of counters; null: never. */
export function alertFrom(budget: Pick<Budget, 'amount' | 'unit' | 'alert_percent'>): number | null {
  return budget.alert_percent === 0 ? null : Math.max(1, Math.ceil((amountOf(budget) * budget.alert_percent) / 100));
}
