import { Command, CommanderError } from 'commander';
import type { CliCommand, JsonSchema } from '#plugin-api';
import { formatResult } from './format-result.ts';
import { readFlag } from './read-flag.ts';
import type { CliOutput } from './registry.ts';

/** Runs one command line on commander, which is loaded for this alone: a running host needs none of it. */
export async function runCommandLine(
  commands: readonly CliCommand[],
  argv: readonly string[],
  output: CliOutput,
): Promise<0 | 1> {
  const program = buildProgram(commands, output);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    return report(error, output);
  }
}

function buildProgram(commands: readonly CliCommand[], output: CliOutput): Command {
  const program = prepare(new Command('cli'), output).description(
    'Commands of this site. Add --json to any of them for JSON.',
  );
  for (const command of commands) {
    const words = command.name.split(/\s+/);
    let parent = program;
    for (const word of words.slice(0, -1)) {
      parent =
        parent.commands.find((known) => known.name() === word) ??
        addTo(parent, prepare(new Command(word), output).description(`Commands of ${word}`));
    }
    addTo(parent, buildCommand({ command, word: words.at(-1) ?? '', output }));
  }
  return program;
}

function addTo(parent: Command, child: Command): Command {
  parent.addCommand(child);
  return child;
}

function prepare(command: Command, output: CliOutput): Command {
  return command
    .exitOverride()
    .helpCommand(false)
    .configureOutput({
      writeOut: (text) => output.out(text.trimEnd()),
      writeErr: (text) => output.err(text.trimEnd()),
      outputError: () => undefined,
    });
}

function buildCommand({ command, word, output }: { command: CliCommand; word: string; output: CliOutput }): Command {
  const built = prepare(new Command(word), output).description(command.description);
  for (const argument of command.args ?? []) {
    const name = argument.name + (argument.rest ? '...' : '');
    built.argument(argument.optional ? `[${name}]` : `<${name}>`, argument.description);
  }
  const flags = Object.entries(command.flags ?? {});
  for (const [name, schema] of flags)
    built.option(isSwitch(schema) ? `--${name}` : `--${name} <value>`, schema.description ?? '');
  if (!command.flags?.['json']) built.option('--json', 'print JSON');
  return built.action(async (...given: unknown[]) => {
    const args = given
      .slice(0, command.args?.length ?? 0)
      .flat()
      .filter((value) => value !== undefined) as string[];
    const values = built.opts<Record<string, string | boolean>>();
    const read: [string, unknown][] = [];
    for (const [name, schema] of flags) {
      const value = values[camelCase(name)];
      if (value !== undefined) read.push([name, await readFlag({ name, schema, value })]);
    }
    const result = await command.run({ args, flags: Object.fromEntries(read) });
    // A command whose --json takes its input answers in kind.
    const text = formatResult(result, values['json'] !== undefined);
    if (text !== '') output.out(text);
  });
}

function isSwitch(schema: JsonSchema): boolean {
  return schema.type === 'boolean';
}

/** commander's name for the value of `--base-url`; names with `_` stay. */
function camelCase(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_dash, letter: string) => letter.toUpperCase());
}

function report(error: unknown, output: CliOutput): 0 | 1 {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // Help that was shown because a command was missing has said it already.
    if (error.code !== 'commander.help') output.err(error.message.replace(/^error: /, 'Error: '));
    return 1;
  }
  output.err(`Error: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
}
