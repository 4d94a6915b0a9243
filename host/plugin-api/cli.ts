import type { JsonSchema } from './schema.ts';
import type { Undo } from './undo.ts';

export interface CliArgument {
  /** `name`; required unless `optional`. */
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean;
  /** Takes all remaining arguments. Only for the last one. */
  readonly rest?: boolean;
}

export interface CliCommand {
  /** Words of the command, for example `svc key set`. */
  readonly name: string;
  readonly description: string;
  readonly args?: readonly CliArgument[];
  /** `--name=value`, or `--name` for booleans; checked and coerced by its schema. `--json` is every command's own unless declared here. */
  readonly flags?: Readonly<Record<string, JsonSchema>>;
  /**
   * Answers what is printed: a string as it is, an array of objects as a table, an object as `name: value` lines,
   * or all of it as JSON with `--json`. A thrown Error is printed as one line on standard error, exit code 1.
   */
  readonly run: (input: {
    readonly args: readonly string[];
    readonly flags: Readonly<Record<string, unknown>>;
  }) => Promise<unknown>;
}

/** Commands run in a process of their own beside a running host; both see each other's changes within a second. */
export interface CliApi {
  addCommand(command: CliCommand): Undo;
  /** Commands that are asked for when a command line runs, so that a running site never loads their code. */
  addCommands(load: () => Promise<readonly CliCommand[]>): Undo;
}
