import type { KnowledgePassage } from '../../../kit/assistants/assistant-knowledge.ts';
import type { Reserved } from '../../../kit/visitors/limit-counters.ts';

/** Of a file: what is kept of it, never its content. */
export interface FileValue {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/** Submitted values by id of the element: a text, a number, values of ticked boxes, a file. Empty ones are there as well. */
export type Inputs = Readonly<Record<string, string | number | readonly string[] | FileValue | null>>;

export interface Answers {
  readonly inputs: Inputs;
  /** The same with labels of options, every value a text. */
  readonly display_values: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

export type Source = Pick<KnowledgePassage, 'title' | 'url' | 'score'>;

/** What made an answer. */
export interface Made {
  /** Display name (D6). */
  readonly provider: string;
  readonly model: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number };
  /** Millionths of a US dollar; null: no price is known. */
  readonly cost: number | null;
  readonly sources: readonly Source[];
}

export interface Submission extends Answers {
  /** UUID. */
  readonly id: string;
  readonly formId: number;
  /** As the form was called then. */
  readonly formName: string;
  readonly status: 'running' | 'completed' | 'failed';
  readonly attempt: number;
  /** Among those of its form that were answered; null until it is. */
  readonly number: number | null;
  /** 0: a guest. */
  readonly userId: number;
  readonly sessionId: string | null;
  readonly pageUrl: string;
  /** Markdown; empty until it is answered, and where nothing is kept. */
  readonly response: string;
  readonly made: Made | null;
  /** Why it failed, for administrators. */
  readonly error: string;
  readonly errorCode: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly finishedAt: number | null;
}

export interface SubmissionFilter {
  readonly formId?: number | undefined;
  readonly status?: Submission['status'] | undefined;
  /** Part of a value or of the answer, without regard to case and accents; `%` and `_` mean themselves. */
  readonly search?: string | undefined;
}

/** Whose submissions: of a user, of a session, or those in which this e-mail address was given. */
export type Submitter = { readonly userId: number } | { readonly sessionId: string } | { readonly email: string };

export interface NewSubmission extends Answers {
  readonly id: string;
  readonly formId: number;
  readonly formName: string;
  readonly userId: number;
  readonly sessionId: string;
  readonly pageUrl: string;
  readonly createdAt: number;
  /** False: of answers nothing is stored, neither now nor later. */
  readonly keep: boolean;
}

/** A try to answer a submission: while its lease holds nobody else tries, and what it brings in counts. */
export interface Attempt {
  readonly id: string;
  readonly attempt: number;
}

export interface SubmissionStore {
  /**
   * Takes a submission, in the running transaction: a new one, or one that failed or whose try is long over. Null: it is
   * completed or under way. What such a try had reserved comes back in `abandoned`, to be given back.
   */
  take(submission: NewSubmission): Promise<{ readonly attempt: Attempt; readonly abandoned: Reserved | null } | null>;
  /** Notes what was taken from limits, in the running transaction. */
  reserve(attempt: Attempt, taken: Reserved | null): Promise<void>;
  /** Keeps the lease; false: it is lost. */
  renew(attempt: Attempt): Promise<boolean>;
  /** Stores the answer, in the running transaction; false: another try has taken its place, and nothing was stored. */
  complete(
    attempt: Attempt,
    end: { readonly response: string; readonly made: Made; readonly number: number; readonly keep: boolean },
  ): Promise<boolean>;
  /** Stores why it failed; null: another try has taken its place. Answers what was reserved. */
  fail(
    attempt: Attempt,
    end: { readonly error: string; readonly code: string },
  ): Promise<{ readonly taken: Reserved | null } | null>;
  find(id: string): Promise<Submission | null>;
  /** Newest first. */
  list(
    filter: SubmissionFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<readonly Submission[]>;
  count(filter: SubmissionFilter): Promise<number>;
  /** When the last one of each form came, by form. */
  latest(): Promise<ReadonlyMap<number, number>>;
  /** All of the filter, newest first, read in pieces. */
  all(filter: SubmissionFilter): AsyncIterable<Submission>;
  /** Answers whether there was one. */
  delete(id: string): Promise<boolean>;
  of(person: Submitter): Promise<readonly Submission[]>;
  /** Answers how many went. */
  eraseOf(person: Submitter): Promise<number>;
  /** Deletes those of a form that came before a moment, in batches; answers how many went. */
  sweep(formId: number, before: number): Promise<number>;
  /** Fails tries whose node is gone, and answers what they had reserved. */
  recover(): Promise<readonly Reserved[]>;
}
