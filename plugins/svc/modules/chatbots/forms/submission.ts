import type { Knex } from '#plugin-api';
import type { CheckedForm } from './form.ts';

/** A form that a visitor submitted, as it was checked. */
export interface Submission extends CheckedForm {
  /** UUID made by the page that sent it. */
  readonly id: string;
  readonly botId: number;
  readonly formId: string;
  /** As the form was called then. */
  readonly formName: string;
  /** UUID of the conversation. */
  readonly conversation: string;
  /** 0: a guest. */
  readonly userId: number;
  readonly sessionId: string | null;
  readonly pageUrl: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export interface SubmissionFilter {
  readonly botId?: number | undefined;
  readonly formId?: string | undefined;
  /** Part of a value, without regard to case and accents; `%` and `_` mean themselves. */
  readonly search?: string | undefined;
}

/** Whose submissions: of a user, of a session, or those in which this e-mail address was given. */
export type Submitter = { readonly userId: number } | { readonly sessionId: string } | { readonly email: string };

/** Submissions of forms, kept until they are deleted. Any node may write; every call takes part in a running transaction. */
export interface SubmissionStore {
  /** Answers false when there is one of this id already: the same submission sent again. */
  add(submission: Submission, transaction?: Knex.Transaction): Promise<boolean>;
  find(id: string): Promise<Submission | null>;
  /** Newest first. */
  list(
    filter: SubmissionFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<readonly Submission[]>;
  count(filter: SubmissionFilter): Promise<number>;
  /** All of the filter, newest first, read in pieces. */
  all(filter: SubmissionFilter): AsyncIterable<Submission>;
  /** Answers whether there was one. */
  delete(id: string): Promise<boolean>;
  of(person: Submitter): Promise<readonly Submission[]>;
  /** Those made in conversations. */
  ofConversations(conversations: readonly string[]): Promise<readonly Submission[]>;
  /** Answers how many went. */
  eraseOf(person: Submitter): Promise<number>;
  /** Those of conversations that are erased. Answers how many went. */
  eraseOfConversations(conversations: readonly string[]): Promise<number>;
}
