import type { HostApi, User } from '#plugin-api';
import { clientNetwork } from '../../../kit/visitors/address.ts';
import { createLimitCounters, type CountedLimit, type Reserved } from '../../../kit/visitors/limit-counters.ts';
import { findPeriod } from '../../../kit/visitors/period.ts';
import type { Signer } from '../../../kit/visitors/signer.ts';
import type { AiForm, FormLimit } from '../forms/form.ts';
import { formTables } from '../forms/form-tables.ts';
import '../hooks.ts';
import type { LimitedFormVisitor } from '../hooks.ts';

export type LimitInForce = CountedLimit;

/** Shown at a limit that is used up. */
export interface ShownLimit {
  readonly message: string;
  /** ISO 8601: when there is more. */
  readonly until: string;
}

export interface FormLimiter {
  /** The limit that counts for a visitor; null: there is none. */
  of(visitor: LimitedFormVisitor): Promise<LimitInForce | null>;
  left(limit: LimitInForce): Promise<number>;
  /** Takes one answer, in the running transaction; null: none is left. However many ask at once, over all nodes, together they get no more than there is. */
  take(limit: LimitInForce): Promise<Reserved | null>;
  giveBack(taken: Reserved): Promise<void>;
  shown(form: Pick<AiForm, 'limits'>, limit: LimitInForce): ShownLimit;
  /** Forgets periods that are long over. */
  sweep(): Promise<void>;
}

/** No period is longer than a month. */
const keptFor = 40 * 24 * 3600_000;
const days = { day: 1, week: 7, month: 30 } as const;

/** Limits of visitors, counted in the database: one count for all nodes. */
export function createFormLimits({
  host,
  signer,
}: {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks'>;
  readonly signer: Signer;
}): FormLimiter {
  const { database, clock, site, hooks } = host;
  const counters = createLimitCounters({ database, table: formTables.counters, scopeColumn: 'form_id' });
  return {
    async of(visitor) {
      const { form, user, session, ip } = visitor;
      const set = await hooks.applyFiltersAsync('svc_form_limit', limitFor(form, user), visitor);
      if (set === null || !(set.amount > 0)) return null;
      const network = clientNetwork(ip);
      const address =
        network === '' ? [] : [`a:${(await signer.sign('address', [network])).toString('base64url').slice(0, 22)}`];
      // In order, so that two transactions never wait for each other.
      const subjects = user.id > 0 ? [`u:${String(user.id)}`] : [...address, `s:${session}`];
      return {
        amount: set.amount,
        per: set.per,
        unit: 'answers',
        ...findPeriod(set.per, clock.now(), await site.timezone()),
        scope: form.id,
        subjects,
      };
    },
    left: counters.left,
    take: (limit) => counters.reserve(limit, { least: 1, most: 1 }),
    giveBack: (taken) => counters.settle(taken, 0),
    shown: ({ limits }, { endsAt }) => ({ message: limits.message, until: new Date(endsAt).toISOString() }),
    sweep: () => counters.sweep(clock.now() - keptFor),
  };
}

/** What is set for a guest, a user, or the most generous of the user's roles. */
export function limitFor({ limits }: Pick<AiForm, 'limits'>, user: Pick<User, 'id' | 'roles'>): FormLimit {
  if (user.id === 0) return limits.guest;
  const ofRoles = user.roles.flatMap((role) =>
    Object.hasOwn(limits.roles, role) ? [limits.roles[role] as FormLimit] : [],
  );
  const [first = limits.user, ...others] = ofRoles;
  return others.reduce((best, limit) => (generosity(limit) > generosity(best) ? limit : best), first);
}

/** Answers a day. */
function generosity({ amount, per }: FormLimit): number {
  return amount <= 0 ? Number.POSITIVE_INFINITY : amount / days[per];
}
