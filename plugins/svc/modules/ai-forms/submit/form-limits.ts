import { clientNetwork, type HostApi, type RestError, type User } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { createLimitCounters, type CountedLimit, type Reserved } from '../../../kit/visitors/limit-counters.ts';
import { findPeriod } from '../../../kit/visitors/period.ts';
import type { Signer } from '../../../kit/visitors/signer.ts';
import type { AiForm, FormLimit } from '../forms/form.ts';
import { formTables } from '../forms/form-tables.ts';
import '../hooks.ts';
import type { LimitedFormVisitor } from '../hooks.ts';

export type ActiveLimit = CountedLimit;

export interface ShownLimit {
  readonly message: string;
  /** ISO 8601: start of the next period. */
  readonly until: string;
}

export interface FormLimiter {
  /** The limit of a visitor. Null: none. */
  of(visitor: LimitedFormVisitor): Promise<ActiveLimit | null>;
  left(limit: ActiveLimit): Promise<number>;
  /**
   * Reserves one response, in the running transaction. Exact over all nodes.
   *
   * @throws RestError 429 `rest_svc_form_limit_reached`
   */
  reserve(form: Pick<AiForm, 'limits'>, limit: ActiveLimit): Promise<Reserved>;
  /** 429 `rest_svc_form_limit_reached`, with the message of the form. */
  reached(form: Pick<AiForm, 'limits'>, limit: ActiveLimit): RestError;
  release(reserved: Reserved): Promise<void>;
  shown(form: Pick<AiForm, 'limits'>, limit: ActiveLimit): ShownLimit;
  /** Deletes old periods. */
  sweep(): Promise<void>;
}

/** The longest period is a month. */
const retention = 40 * 24 * 3600_000;
const days = { day: 1, week: 7, month: 30 } as const;

/** Limits of visitors, counted in the database for all nodes. */
export function createFormLimits({
  host,
  signer,
}: {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks'>;
  readonly signer: Signer;
}): FormLimiter {
  const { database, clock, site, hooks } = host;
  const counters = createLimitCounters({ database, table: formTables.counters, scopeColumn: 'form_id' });
  const shown: FormLimiter['shown'] = ({ limits }, { endsAt }) => ({
    message: limits.message,
    until: new Date(endsAt).toISOString(),
  });
  const reached: FormLimiter['reached'] = (form, limit) => {
    const seconds = Math.max(1, Math.ceil((limit.endsAt - clock.now()) / 1000));
    return errors.form_limit_reached({
      values: { reason: form.limits.message },
      data: { limit: shown(form, limit) },
      headers: { 'Retry-After': String(seconds) },
    });
  };
  return {
    async of(visitor) {
      const { form, user, session, ip } = visitor;
      const set = await hooks.applyFiltersAsync('svc_form_limit', limitFor(form, user), visitor);
      if (set === null || !(set.amount > 0)) return null;
      const network = clientNetwork(ip);
      const address =
        network === '' ? [] : [`a:${(await signer.sign('address', [network])).toString('base64url').slice(0, 22)}`];
      // Always in the same order, so that transactions cannot deadlock.
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
    async reserve(form, limit) {
      const reserved = await counters.reserve(limit, { least: 1, most: 1 });
      if (reserved === null) throw reached(form, limit);
      return reserved;
    },
    reached,
    release: (reserved) => counters.settle(reserved, 0),
    shown,
    sweep: () => counters.sweep(clock.now() - retention),
  };
}

/** The limit for a guest, a user, or the most generous of the user's roles. */
export function limitFor({ limits }: Pick<AiForm, 'limits'>, user: Pick<User, 'id' | 'roles'>): FormLimit {
  if (user.id === 0) return limits.guest;
  const ofRoles = user.roles.flatMap((role) =>
    Object.hasOwn(limits.roles, role) ? [limits.roles[role] as FormLimit] : [],
  );
  const [first = limits.user, ...others] = ofRoles;
  return others.reduce((best, limit) => (generosity(limit) > generosity(best) ? limit : best), first);
}

/** Responses per day. */
function generosity({ amount, per }: FormLimit): number {
  return amount <= 0 ? Number.POSITIVE_INFINITY : amount / days[per];
}
