import { parseId, type Choice, type HostApi, type ListColumn } from '#plugin-api';
import type { recordField } from './form-values.ts';
import type { ReadFilter, ReadState, SubmissionReads } from '../kit/submissions/read-states.ts';

/** What the pages show of a submission. */
export interface ShownSubmission {
  /** UUID. */
  readonly id: string;
  readonly readState: ReadState;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly pageUrl: string;
  /** Values as text and labels, by id of the element. */
  readonly display_values: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

export type Values = Readonly<Record<string, string>>;

/** A field above the list: name and label, and the rest for the partial `admin/field`. */
export interface SubmissionChoice {
  readonly name: string;
  readonly label: string;
  readonly field: ReturnType<typeof recordField> | { readonly type: 'select'; readonly options: readonly Choice[] };
  /** What the chip says while the value is set. */
  readonly chip: string;
}

interface Badge {
  readonly text: string;
  readonly kind?: string;
}

/** A kind of submissions: those of AI forms or those of chatbots. */
export interface SubmissionKind<Submission extends ShownSubmission, Filter extends ReadFilter> {
  readonly host: Pick<HostApi, 'admin'>;
  readonly store: SubmissionReads<Submission, Filter>;
  /** Of the pages. */
  readonly slugs: { readonly list: string; readonly item: string };
  /** Links above the title of a submission, below those of its page. */
  readonly trail?: readonly { readonly title: string; readonly href: string }[];
  /** The name of exports, without ending. */
  readonly file: string;
  /** Shown without any submission. */
  readonly empty: { readonly text: string; readonly href: string; readonly label: string };
  readonly searchLabel: string;
  readonly columns: readonly ListColumn[];
  /** Names of the selects above the list. Each returns a value of a query, or '' for an invalid one. */
  readonly filters: Readonly<Record<string, (value: string) => string>>;
  /** @param values of the selects */
  readonly toFilter: (values: Values) => Omit<Filter, keyof ReadFilter>;
  readonly choices: (values: Values) => Promise<readonly SubmissionChoice[]>;
  /** Title, badge of the second column and texts of the next columns, in the order of the submissions. */
  readonly rows: (
    submissions: readonly Submission[],
  ) => Promise<readonly { readonly title: string; readonly badge?: Badge; readonly cells: readonly string[] }[]>;
  /** What the page of a submission shows besides its values. */
  readonly details: (submission: Submission) => Promise<{
    readonly title: string;
    readonly person: string;
    readonly badge?: Badge;
    readonly [name: string]: unknown;
  }>;
  readonly csv: (submissions: AsyncIterable<Submission>) => AsyncIterable<string>;
  readonly record: (submission: Submission) => Readonly<Record<string, unknown>>;
}

export const stateLabels: Readonly<Record<ReadState, string>> = { new: 'New', read: 'Read', archived: 'Archived' };

/** The filter of a select whose values are positive ids. */
export function readIdValue(value: string): string {
  return String(parseId(value) || '');
}
