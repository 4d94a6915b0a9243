import type { JsonSchema } from './schema.ts';
import type { Undo } from './undo.ts';

export interface CliArgument {
  /** `name`; required unless `optional`. */
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean;
  /** The value is a secret: `-` reads it from standard input, `@path` from a file; any other value gets a warning. */
  readonly secret?: boolean;
  /** Takes all remaining arguments. Only for the last argument. */
  readonly rest?: boolean;
}

export interface CliCommand {
  /** Words of the command, for example `svc key set`. */
  readonly name: string;
  readonly description: string;
  readonly args?: readonly CliArgument[];
  /**
   * `--name=value`, or `--name` for booleans; checked and coerced by its schema. Without the flag, the command gets the `default`
   * of the schema; the help shows it, and the choices of `enum`. Every command has `--json` unless declared here.
   * A flag with `writeOnly` takes a secret: `--name-stdin` reads it from standard input, `--name=@path` from a file; any other
   * value gets a warning.
   */
  readonly flags?: Readonly<Record<string, JsonSchema>>;
  /**
   * What the result holds. Texts of the program are printed in the language of the terminal, except with `--json`. Default: a
   * string is a text, and lists and objects hold data. Names: only these members of the objects of a list are texts.
   */
  readonly result?: 'data' | 'texts' | readonly string[];
  /** Printed for an empty list, except with `--json`. Default: `None.` */
  readonly ifEmpty?: string;
  /**
   * Returns the output: a string as is, an array of objects as a table, an object as `name: value` lines, or everything as
   * JSON with `--json`. A thrown Error is printed as one line on standard error, with exit code 1, after its member `result`
   * if it has one: what a failed check found.
   */
  readonly run: (input: {
    readonly args: readonly string[];
    readonly flags: Readonly<Record<string, unknown>>;
    /** Prints a line on standard error at once: how far a command is that takes long. */
    readonly progress?: (text: string) => void;
  }) => Promise<unknown>;
}

/** Commands run in a separate process beside the running host; both see each other's changes within a second. */
export interface CliApi {
  addCommand(command: CliCommand): Undo;
  /** Loads commands only when the CLI runs, so that a running site never loads their code. */
  addCommands(load: () => Promise<readonly CliCommand[]>): Undo;
}
