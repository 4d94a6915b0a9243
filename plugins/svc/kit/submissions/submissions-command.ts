import type { CliArgument, CliCommand, JsonSchema } from '#plugin-api';
import { readStates, type ReadFilter, type ReadState, type SubmissionReads } from './read-states.ts';

export interface SubmissionsCommand<Submission, Filter extends ReadFilter> {
  readonly name: string;
  readonly description: string;
  /** Whose submissions: the form or the chatbot. */
  readonly owner: CliArgument;
  readonly flags: Readonly<Record<string, JsonSchema>>;
  readonly store: Pick<SubmissionReads<Submission, Filter>, 'list' | 'all'>;
  /** What the argument and the own flags filter by. */
  readonly filter: (
    owner: string | undefined,
    flags: Readonly<Record<string, unknown>>,
  ) => Promise<Omit<Filter, keyof ReadFilter>>;
  readonly csv: (submissions: AsyncIterable<Submission>) => AsyncIterable<string>;
  readonly record: (submission: Submission) => Readonly<Record<string, unknown>>;
}

/** The command that prints submissions or exports them. */
export function submissionsCommand<Submission, Filter extends ReadFilter>({
  name,
  description,
  owner,
  flags: own,
  store,
  filter,
  csv,
  record,
}: SubmissionsCommand<Submission, Filter>): CliCommand {
  return {
    name,
    description,
    args: [{ ...owner, optional: true }],
    flags: {
      ...own,
      read_state: {
        type: 'string',
        enum: [...readStates],
        description: 'Only submissions with this state of reading.',
      },
      search: { type: 'string', description: 'Text in fields or responses.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: 10_000,
        default: 20,
        description: 'Maximum number. An export contains all of them.',
      },
      export: { type: 'string', enum: ['csv', 'jsonl'], description: 'Print all of them as CSV or JSON lines.' },
    },
    run: async ({ args: [id], flags }) => {
      const found = {
        ...(await filter(id, flags)),
        readState: flags['read_state'] as ReadState | undefined,
        search: flags['search'] as string | undefined,
      } as Filter;
      if (flags['export'] === 'csv') return joined(csv(store.all(found)));
      if (flags['export'] === 'jsonl') return joined(jsonLines(store.all(found), record));
      return (await store.list(found, { limit: Number(flags['limit']), offset: 0 })).map(record);
    },
  };
}

/** JSON lines of submissions, with the names of their event (contract 6.5). */
export async function* jsonLines<Submission>(
  submissions: AsyncIterable<Submission> | Iterable<Submission>,
  record: (submission: Submission) => Readonly<Record<string, unknown>>,
): AsyncGenerator<string> {
  for await (const submission of submissions) yield `${JSON.stringify(record(submission))}\n`;
}

async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let all = '';
  for await (const piece of pieces) all += piece;
  return all;
}
