import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { JsonSchema } from '#plugin-api';
import type { CliOutput } from './registry.ts';

/** How a secret was given on the command line. */
interface GivenSecret {
  /** How the command line calls it, such as `--api-key`. */
  readonly name: string;
  /** undefined: it was not given as an argument. */
  readonly value: string | undefined;
  /** Whether to read it from standard input. */
  readonly stdin: boolean;
  /** A JSON object, which holds a secret only in `secret` or `headers`. */
  readonly isJson: boolean;
}

/**
 * The value of an argument or flag that takes a secret: from standard input, from a file (`@path`), or as it is, with a warning,
 * because other users of the machine see arguments. `@@` begins a value with one `@`. A line break at the end is removed.
 *
 * @throws Error for a file that cannot be read, or if nothing came from standard input
 */
export async function readSecret(
  { name, value, stdin, isJson }: GivenSecret,
  output: CliOutput,
): Promise<string | undefined> {
  if (stdin) {
    if (value !== undefined && value !== '-') throw new Error(`Give ${name} once: as a value or on standard input.`);
    const read = withoutLineBreak(await (output.input ?? readStandardInput)());
    if (read === '') throw new Error(`Standard input is empty. It must contain the value of ${name}.`);
    return read;
  }
  if (value === undefined || value === '' || (isJson && !value.startsWith('@') && !/"(?:secret|headers)"/.test(value)))
    return value;
  if (value.startsWith('@@')) return warned({ name, value: value.slice(1) }, output);
  if (!value.startsWith('@')) return warned({ name, value }, output);
  const path = value.slice(1);
  const content = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new Error(`The file ${path} of ${name} cannot be read. Check its path and permissions.`, { cause: error });
  });
  return withoutLineBreak(content);
}

function warned({ name, value }: { readonly name: string; readonly value: string }, output: CliOutput): string {
  output.err(
    `Warning: ${name} was given as an argument, which other users of this machine and the shell history can see. ` +
      (name.startsWith('--') ? `Use ${name}-stdin or ${name}=@file.` : `Give - to read standard input, or @file.`),
  );
  return value;
}

function withoutLineBreak(content: string): string {
  return content.replace(/\r?\n$/, '');
}

async function readStandardInput(): Promise<string> {
  return text(process.stdin);
}

/** Whether the value of a flag is a secret, or JSON that can contain some. */
export function takesSecret(schema: JsonSchema): boolean {
  return schema.writeOnly === true;
}
