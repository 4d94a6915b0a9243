import type { HostApi } from '#plugin-api';
import type { AiForms } from '../ai-forms.ts';
import { formTables } from '../forms/form-tables.ts';
import type { Submitter } from '../../../kit/table-reads.ts';
import type { Submission } from './submission.ts';
import { submissionRecord } from './submissions-export.ts';

type Parts = Pick<AiForms, 'host' | 'submissions'>;

export async function exportSubmissions(
  parts: Parts,
  person: Submitter,
): Promise<{ readonly type: string; readonly data: Record<string, unknown> }[]> {
  const found = new Map<string, Submission>();
  for (const submitter of await findSubmitters(parts, person)) {
    for (const submission of await parts.submissions.of(submitter)) found.set(submission.id, submission);
  }
  return [...found.values()].map((submission) => ({ type: 'form_answer', data: submissionRecord(submission) }));
}

/** Returns the number of deleted submissions. May run again. */
export async function eraseSubmissions(parts: Parts, person: Submitter): Promise<number> {
  let erased = 0;
  for (const submitter of await findSubmitters(parts, person)) erased += await parts.submissions.eraseOf(submitter);
  return erased;
}

/** In the transaction that deletes the user: the heir gets the submissions. Without an heir they become a guest's. */
export async function reassignSubmissions(
  { database }: Pick<HostApi, 'database'>,
  { id, heir }: { readonly id: number; readonly heir: number | null },
): Promise<void> {
  await database
    .knex(formTables.submissions)
    .where({ user_id: id })
    .update(heir === null ? { user_id: 0, session_id: null } : { user_id: heir });
}

/** A person who entered an address is also the user with that address. User 0 is no person. */
async function findSubmitters({ host }: Parts, person: Submitter): Promise<readonly Submitter[]> {
  if ('userId' in person) return person.userId > 0 ? [person] : [];
  if (!('email' in person)) return [person];
  const user = await host.users.find(person.email);
  return user === null ? [person] : [person, { userId: user.id }];
}
