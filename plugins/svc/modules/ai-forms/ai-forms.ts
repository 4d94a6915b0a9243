import { lazy } from '#plugin-api';
import { knownNames } from '../../kit/assistants/known-names.ts';
import type { ServiceContext } from '../../wiring.ts';
import { partsOf } from '../../kit/parts-of.ts';
import { createMinuteCounts, type RequestCounts } from '../../kit/visitors/minute-counts.ts';
import { createSessionTokens } from '../../kit/visitors/session-token.ts';
import { createSigner, type Signer } from '../../kit/visitors/signer.ts';
import { findFirstModel } from '../../settings/example-model.ts';
import type { FormStore } from './forms/form.ts';
import { createFormStore } from './forms/form-store.ts';
import { createVisitors, type Visitors } from './public/visitor.ts';
import type { SubmissionStore } from './submissions/submission.ts';
import { createSubmissionStore } from './submissions/submission-store.ts';
import { createFormLimits, type FormLimiter } from './submit/form-limits.ts';
import type { Submit } from './submit/submit.ts';

/** What routes, pages and commands of forms share. One per context. */
export interface AiForms {
  readonly forms: FormStore;
  readonly submissions: SubmissionStore;
  readonly limits: FormLimiter;
  readonly visitors: Visitors;
  readonly signer: Signer;
  readonly floods: RequestCounts;
  readonly submit: Submit;
}

/** The parts of forms in this process, made when they are first asked for. */
export const aiFormsOf: (context: ServiceContext) => AiForms = partsOf(create);

function create(context: ServiceContext): AiForms {
  const { host } = context;
  const signer = createSigner({ host });
  const submissions = createSubmissionStore({ host });
  const limits = createFormLimits({ host, signer });
  const forms = createFormStore({ host, known: () => knownNames(context), firstModel: () => findFirstModel(context) });
  const submit = lazy(async () => {
    const [{ createSubmit }, { createMakeAnswer }] = await Promise.all([
      import('./submit/submit.ts'),
      import('./submit/make-answer.ts'),
    ]);
    return createSubmit({ host, forms, submissions, limits, makeAnswer: createMakeAnswer(context) });
  });
  return {
    forms,
    submissions,
    limits,
    signer,
    submit,
    visitors: createVisitors({ host, forms, signer, tokens: createSessionTokens({ signer, clock: host.clock }) }),
    floods: createMinuteCounts({ clock: host.clock }),
  };
}
