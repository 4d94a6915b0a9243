import { errors } from '../../../kit/errors.ts';
import { createLimitCounters, limitFor } from '../../../kit/visitors/limit-counters.ts';
import type { CountedLimit, LimitCounters, LimitParts, Reserved } from '../../../kit/visitors/limit-counters.ts';
import type { AiForm } from '../forms/form.ts';
import { formCounters } from '../forms/form-tables.ts';
import '../hooks.ts';
import type { Visitor } from '../public/visitor.ts';

export type FormLimits = LimitCounters<Visitor>;

/** Limits of visitors, counted in the database for all nodes. Each response counts. */
export function createFormLimits(parts: LimitParts): FormLimits {
  return createLimitCounters({
    ...parts,
    ...formCounters,
    async find({ form, user, session, ip }: Visitor) {
      const visitor = { form, user, session: session.id, ip };
      const set = await parts.host.hooks.applyFiltersAsync('svc_form_limit', limitFor(form.limits, user), visitor);
      return set !== null && set.amount > 0
        ? { amount: set.amount, per: set.per, unit: 'answers', scope: form.id }
        : null;
    },
  });
}

/**
 * Reserves one response, in the running transaction. Exact over all nodes.
 *
 * @throws RestError 429 `rest_svc_form_limit_reached`, with the message of the form
 */
export async function reserveResponse(
  limits: FormLimits,
  limit: CountedLimit,
  form: Pick<AiForm, 'limits'>,
): Promise<Reserved> {
  const reserved = await limits.reserve(limit, { least: 1, most: 1 });
  if (reserved === null) throw errors.form_limit_reached(limits.refusal(limit, form.limits));
  return reserved;
}
