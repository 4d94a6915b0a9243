import type { ServiceContext } from '../../../wiring.ts';
import { aiFormsOf } from '../ai-forms.ts';
import { formTables } from '../forms/form-tables.ts';
import type { Submission, Submitter } from './submission.ts';
import { submissionRecord } from './submissions-export.ts';

/** All that is stored of a person, as lines of an export. */
export async function recordsOf(
  context: ServiceContext,
  person: Submitter,
): Promise<{ readonly type: string; readonly data: Record<string, unknown> }[]> {
  const found = new Map<string, Submission>();
  for (const submitter of await submittersOf(context, person)) {
    for (const submission of await aiFormsOf(context).submissions.of(submitter)) found.set(submission.id, submission);
  }
  return [...found.values()].map((submission) => ({ type: 'form_answer', data: submissionRecord(submission) }));
}

/** Answers how many submissions went. May run again. */
export async function erase(context: ServiceContext, person: Submitter): Promise<number> {
  let erased = 0;
  for (const submitter of await submittersOf(context, person))
    erased += await aiFormsOf(context).submissions.eraseOf(submitter);
  return erased;
}

/** When a user is deleted, in the same transaction: submissions go over to whoever inherits; without an heir they are a guest's. */
export async function forgetUser(
  { host }: ServiceContext,
  { id, heir }: { readonly id: number; readonly heir: number | null },
): Promise<void> {
  await host.database
    .knex(formTables.submissions)
    .where({ user_id: id })
    .update(heir === null ? { user_id: 0, session_id: null } : { user_id: heir });
}

/** Whoever gave an address is that user as well. Nobody is user 0. */
async function submittersOf({ host }: ServiceContext, person: Submitter): Promise<readonly Submitter[]> {
  if ('userId' in person) return person.userId > 0 ? [person] : [];
  if (!('email' in person)) return [person];
  const user = await host.users.find(person.email);
  return user === null ? [person] : [person, { userId: user.id }];
}
