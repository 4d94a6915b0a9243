import type { ServiceContext } from '../../../wiring.ts';
import { aiFormsOf } from '../ai-forms.ts';

const day = 24 * 3600_000;

/** Gives up tries whose node is gone, deletes what is older than its form keeps, forgets periods of limits. May run on several nodes at once. */
export async function sweepForms(context: ServiceContext): Promise<void> {
  const { forms, submissions, limits } = aiFormsOf(context);
  for (const taken of await submissions.recover()) await limits.giveBack(taken);
  let swept = 0;
  for (const { id, privacy } of await forms.list()) {
    if (privacy.retention_days > 0)
      swept += await submissions.sweep(id, context.host.clock.now() - privacy.retention_days * day);
  }
  await limits.sweep();
  if (swept > 0) context.host.log.info('Old submissions of forms were deleted.', { submissions: swept });
}
