import { retryAfter } from '#plugin-api';
import type { HostApi, RestError } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { createLimitCounters, limitFor } from '../../../kit/visitors/limit-counters.ts';
import type { CountedLimit, Reserved } from '../../../kit/visitors/limit-counters.ts';
import type { Signer } from '../../../kit/visitors/signer.ts';
import type { AiForm } from '../forms/form.ts';
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

/** Limits of visitors, counted in the database for all nodes. */
export function createFormLimits({
  host,
  signer,
}: {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks'>;
  readonly signer: Signer;
}): FormLimiter {
  const { clock, hooks } = host;
  const counters = createLimitCounters({ host, signer, table: formTables.counters, scopeColumn: 'form_id' });
  const shown: FormLimiter['shown'] = ({ limits }, { endsAt }) => ({
    message: limits.message,
    until: new Date(endsAt).toISOString(),
  });
  const reached: FormLimiter['reached'] = (form, limit) => {
    return errors.form_limit_reached({
      values: { reason: form.limits.message },
      data: { limit: shown(form, limit) },
      headers: retryAfter(limit.endsAt - clock.now()),
    });
  };
  return {
    async of(visitor) {
      const { form, user } = visitor;
      const set = await hooks.applyFiltersAsync('svc_form_limit', limitFor(form.limits, user), visitor);
      if (set === null || !(set.amount > 0)) return null;
      const { amount, per } = set;
      return counters.of(visitor, { amount, per, unit: 'answers', scope: form.id });
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
    sweep: counters.sweep,
  };
}
