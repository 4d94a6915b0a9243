import type { ReadFilter, ReadState, SubmissionReads } from '../../../kit/submissions/read-states.ts';
import type { KnowledgePassage } from '../../../kit/assistants/assistant-knowledge.ts';
import type { Submitter } from '../../../kit/table-reads.ts';
import type { Reserved } from '../../../kit/visitors/limit-counters.ts';

/** A file without its content. */
export interface FileValue {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/** Submitted values by id of the element: a text, a number, selected values or a file. Includes empty values. */
export type Inputs = Readonly<Record<string, string | number | readonly string[] | FileValue | null>>;

export interface Answers {
  readonly inputs: Inputs;
  /** The values as text, with the labels of options. */
  readonly display_values: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

export type Source = Pick<KnowledgePassage, 'title' | 'url' | 'score'>;

/** How a response was generated. */
export interface Generation {
  /** Display name (D6). */
  readonly provider: string;
  readonly model: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number };
  /** In millionths of a US dollar. Null: no price is known. */
  readonly cost: number | null;
  readonly sources: readonly Source[];
  /** Of a form with fields of the response: their values by name. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Why the response is not complete. Left out: it is. */
  readonly finish?: 'length' | 'content_filter';
}

export interface Submission extends Answers {
  /** UUID. */
  readonly id: string;
  readonly formId: number;
  /** The name of the form at the time of submission. */
  readonly formName: string;
  readonly status: 'running' | 'completed' | 'failed';
  readonly readState: ReadState;
  readonly attempt: number;
  /** Sequence number among the completed submissions of the form. Null until completed. */
  readonly number: number | null;
  /** 0: a guest. */
  readonly userId: number;
  readonly sessionId: string | null;
  readonly pageUrl: string;
  /** Markdown. Empty until completed, and if the form stores no submissions. */
  readonly response: string;
  readonly generation: Generation | null;
  /** The reason of a failure, for administrators. */
  readonly error: string;
  readonly errorCode: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly finishedAt: number | null;
}

/** A search finds values and the response. */
export interface SubmissionFilter extends ReadFilter {
  readonly formId?: number | undefined;
  readonly status?: Submission['status'] | undefined;
}

export interface NewSubmission extends Answers {
  readonly id: string;
  readonly formId: number;
  readonly formName: string;
  readonly userId: number;
  readonly sessionId: string;
  readonly pageUrl: string;
  readonly createdAt: number;
  /** False: neither values nor the response are stored. */
  readonly keep: boolean;
}

/** Job of a submission while its response is generated. */
export const submissionJob = 'form-submission';

export type SubmissionJobArgs = {
  /** UUID. */
  readonly id: string;
  /** Null: there was no limit. */
  readonly reserved: Reserved | null;
};

/** New submissions are counted by form. */
export interface SubmissionStore extends SubmissionReads<Submission, SubmissionFilter> {
  /** Begins a submission, a new or a failed one, in the running transaction. False: it is completed or runs. */
  claim(submission: NewSubmission): Promise<boolean>;
  /** Stores the response, in the running transaction. False: it was deleted meanwhile. */
  complete(
    id: string,
    end: {
      readonly response: string;
      readonly generation: Generation;
      readonly number: number;
      readonly keep: boolean;
    },
  ): Promise<boolean>;
  /** Stores the failure. */
  fail(id: string, end: { readonly error: string; readonly code: string }): Promise<void>;
  count(filter: SubmissionFilter): Promise<number>;
  /** Time of the latest submission by form. */
  latest(): Promise<ReadonlyMap<number, number>>;
  of(person: Submitter): Promise<readonly Submission[]>;
  /** Returns the number of deleted submissions. */
  eraseOf(person: Submitter): Promise<number>;
  /** Deletes submissions of a form from before a time, in batches. Returns their number. */
  sweep(formId: number, before: number): Promise<number>;
}
