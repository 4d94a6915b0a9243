import { lazy } from '#plugin-api';
import type { Loaded } from '../../kit/lazy.ts';
import { knownNames } from '../../kit/assistants/known-names.ts';
import { createMinuteCounts, type RequestCounts } from '../../kit/rate-limit.ts';
import { createSessionTokens } from '../../kit/visitors/session-token.ts';
import { createSigner, type Signer } from '../../kit/visitors/signer.ts';
import type { HostPort, KnowledgePort, ProvidersPort, SettingsPort, TextPort, VectorStoresPort } from '../../ports.ts';
import { findFirstModel } from '../../settings/example-model.ts';
import type { FormStore } from './forms/form.ts';
import { createFormStore } from './forms/form-store.ts';
import { createVisitors, type Visitors } from './public/visitor.ts';
import type { SubmissionStore } from './submissions/submission.ts';
import { createSubmissionStore } from './submissions/submission-store.ts';
import { createFormLimits, type FormLimits } from './submit/form-limits.ts';
import type { Submit } from './submit/submit.ts';

export type AiFormPorts = HostPort & ProvidersPort & SettingsPort & TextPort & VectorStoresPort & KnowledgePort;

/** What the routes, pages and commands of forms share. One per process, loaded at its first use. */
export interface AiForms extends AiFormPorts {
  readonly forms: FormStore;
  readonly submissions: SubmissionStore;
  readonly limits: FormLimits;
  readonly visitors: Visitors;
  readonly signer: Signer;
  readonly requestCounts: RequestCounts;
  readonly submit: Submit;
}

export type AiFormParts = Loaded<AiFormPorts, AiForms>;

export function createAiForms(ports: AiFormPorts): AiForms {
  const { host } = ports;
  const signer = createSigner({ host });
  const submissions = createSubmissionStore({ host });
  const limits = createFormLimits({ host, signer });
  const forms = createFormStore({ host, known: () => knownNames(ports), firstModel: () => findFirstModel(ports) });
  const submit = lazy(async () => {
    const [{ createSubmit }, { createGenerateResponse }] = await Promise.all([
      import('./submit/submit.ts'),
      import('./submit/generate-response.ts'),
    ]);
    return createSubmit({ host, forms, submissions, limits, generateResponse: createGenerateResponse(ports) });
  });
  return {
    ...ports,
    forms,
    submissions,
    limits,
    signer,
    submit,
    visitors: createVisitors({ host, forms, signer, tokens: createSessionTokens({ signer, clock: host.clock }) }),
    requestCounts: createMinuteCounts({ clock: host.clock }),
  };
}

const day = 24 * 3600_000;

/**
 * Deletes submissions beyond the retention of their form, and forgets old counters. May run on several nodes at once.
 */
export async function sweepForms({ host, forms, submissions, limits }: AiForms): Promise<void> {
  let swept = 0;
  for (const { id, privacy } of await forms.list()) {
    if (privacy.retention_days > 0)
      swept += await submissions.sweep(id, host.clock.now() - privacy.retention_days * day);
  }
  await limits.sweep();
  if (swept > 0) host.log.info('Deleted old form submissions', { event: 'form_submissions_swept', submissions: swept });
}
