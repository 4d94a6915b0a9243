import { Command, CommanderError, Help, type HelpConfiguration } from 'commander';
import { errorText, isRecord, requireStorable, type CliCommand, type JsonSchema } from '#plugin-api';
import { completionCommand } from './completion.ts';
import { describeFlag, isSwitch, readFlag } from './flags.ts';
import { formatResult } from './text-printer.ts';
import type { TranslatedOutput, CliOutput } from './registry.ts';
import type { Translate } from './terminal-language.ts';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

/** Runs one command line with commander, which a running host does not load. */
export async function runCommandLine(
  commands: readonly CliCommand[],
  argv: readonly string[],
  output: TranslatedOutput,
): Promise<0 | 1> {
  const program = buildProgram(meantBy(argv, [...commands, completionCommand(commands)]), output);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    return report(error, output);
  }
}

/** The command that the arguments name, where no other can be meant, else all: to build all takes several milliseconds. */
function meantBy(argv: readonly string[], commands: readonly CliCommand[]): readonly CliCommand[] {
  const named = commands.filter(({ name }) => name.split(/\s+/).every((word, index) => word === argv[index]));
  const continues = ({ name }: CliCommand): boolean => named.some((one) => name.startsWith(`${one.name} `));
  return named.length === 1 && !commands.some(continues) ? named : commands;
}

function buildProgram(commands: readonly CliCommand[], output: TranslatedOutput): Command {
  const program = prepare(new Command('cli'), output).description('Commands of this site. Add --json to print JSON.');
  for (const command of commands) {
    const parts = command.name.split(/\s+/);
    let parent = program;
    for (const word of parts.slice(0, -1)) {
      parent =
        parent.commands.find((known) => known.name() === word) ??
        addTo(parent, prepare(new Command(word), output).description(`Commands of “${word}”`));
    }
    addTo(parent, buildCommand({ command, word: parts.at(-1) ?? '', output }));
  }
  return program;
}

function addTo(parent: Command, child: Command): Command {
  parent.addCommand(child);
  return child;
}

function prepare(command: Command, output: TranslatedOutput): Command {
  return command
    .exitOverride()
    .helpCommand(false)
    .configureHelp(translatedHelp(output))
    .configureOutput({
      writeOut: (text) => output.out(text.trimEnd()),
      writeErr: (text) => output.err(text.trimEnd()),
      outputError: () => undefined,
    });
}

/** Translated only when help is printed. */
function translatedHelp({ translate }: Pick<TranslatedOutput, 'translate'>): HelpConfiguration {
  const { commandUsage, optionTerm } = Help.prototype;
  const translateTerms = (text: string): string => text.replace(/\[(?:options|command)\]|<value>/g, translate);
  return {
    commandDescription: (command) => translate(command.description()),
    subcommandDescription: (command) => translate(command.description()),
    optionDescription: ({ description }) => description.split('\n').map(translate).join(' '),
    argumentDescription: ({ description }) => translate(description),
    commandUsage: (command) => translateTerms(commandUsage.call(new Help(), command)),
    subcommandTerm: (command) => translateTerms(Help.prototype.subcommandTerm.call(new Help(), command)),
    optionTerm: (option) => translateTerms(optionTerm.call(new Help(), option)),
    styleTitle: translate,
  };
}

function buildCommand({
  command,
  word,
  output,
}: {
  command: CliCommand;
  word: string;
  output: TranslatedOutput;
}): Command {
  const built = prepare(new Command(word), output).description(command.description);
  for (const argument of command.args ?? []) {
    const name = argument.name + (argument.rest ? '...' : '');
    built.argument(argument.optional ? `[${name}]` : `<${name}>`, argument.description);
  }
  const flags = Object.entries(command.flags ?? {});
  for (const [name, schema] of flags) {
    built.option(isSwitch(schema) ? `--${name}` : `--${name} <value>`, describeFlag(schema));
    if (takesSecret(schema)) built.option(`--${name}-stdin`, `Read --${name} from standard input.`);
  }
  if (!command.flags?.['json']) built.option('--json', 'Print JSON.');
  return built.action(async (...given: unknown[]) => {
    const warned = { ...output, err: (text: string) => output.err(output.translate(text)) };
    const args = await readArguments(command, given, warned);
    const values = built.opts<Record<string, string | boolean>>();
    const read: [string, unknown][] = [];
    for (const [name, schema] of flags) {
      const plain = values[camelCase(name)];
      const stdin = values[camelCase(`${name}-stdin`)] === true;
      const value =
        takesSecret(schema) && typeof plain !== 'boolean'
          ? await readSecret({ name: `--${name}`, value: plain, stdin, isJson: schema.type === 'object' }, warned)
          : plain;
      if (value !== undefined) read.push([name, requireStorable(readFlag({ name, schema, value }), `--${name}`)]);
      else if (schema.default !== undefined) read.push([name, schema.default]);
    }
    const print = (result: unknown): void => {
      // A command that takes input with --json also prints JSON.
      const isJson = values['json'] !== undefined || values['jsonStdin'] === true;
      if (!isJson && Array.isArray(result) && result.length === 0) {
        output.out(output.translate(command.ifEmpty ?? noRows));
        return;
      }
      const text = isJson
        ? JSON.stringify(result ?? null, null, 2)
        : formatResult(translateResult(command, result, output.translate), output.columns);
      if (text !== '') output.out(text);
    };
    try {
      print(
        await command.run({
          args,
          flags: Object.fromEntries(read),
          progress: (text) => output.err(output.translate(text)),
        }),
      );
    } catch (error) {
      if (isRecord(error) && error['result'] !== undefined) print(error['result']);
      throw error;
    }
  });
}

/** The arguments in order, secrets read from where they are. */
async function readArguments(
  command: CliCommand,
  given: readonly unknown[],
  output: TranslatedOutput,
): Promise<string[]> {
  const args = command.args ?? [];
  const values = await Promise.all(
    args.map(({ name, secret }, index) => {
      const value = given[index];
      return secret && typeof value === 'string'
        ? readSecret({ name: `<${name}>`, value, stdin: value === '-', isJson: false }, output)
        : value;
    }),
  );
  return values.flatMap((value, index) =>
    value === undefined ? [] : (requireStorable([value].flat(), `<${args[index]?.name ?? ''}>`) as string[]),
  );
}

/** The name that commander gives the value of `--base-url`. Names with `_` stay unchanged. */
function camelCase(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_dash, letter: string) => letter.toUpperCase());
}

function report(error: unknown, output: TranslatedOutput): 0 | 1 {
  const fail = (text: string): void => output.err(`${output.translate('Error')}: ${output.translate(text)}`);
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // Help for a missing command has already been printed.
    if (error.code !== 'commander.help') fail(error.message.replace(/^error: /, ''));
    return 1;
  }
  fail(errorText(error));
  return 1;
}

const noRows = 'None.';

/** A text, and the members of a report. Other values are data. */
function translateResult({ result: kind }: CliCommand, result: unknown, translate: Translate): unknown {
  if (typeof result === 'string') return kind === 'data' ? result : translate(result);
  if (kind === undefined || kind === 'data' || !Array.isArray(result)) return result;
  const isText = (name: string): boolean => kind === 'texts' || kind.includes(name);
  return result.map((row: unknown) =>
    isRecord(row)
      ? Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            typeof value === 'string' && isText(name) ? translate(value) : value,
          ]),
        )
      : row,
  );
}

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
async function readSecret({ name, value, stdin, isJson }: GivenSecret, output: CliOutput): Promise<string | undefined> {
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
function takesSecret(schema: JsonSchema): boolean {
  return schema.writeOnly === true;
}
