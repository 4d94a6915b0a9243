import type { CliApi, CliCommand } from '#plugin-api';

/** Where a command's words go. The entry gives it the process's streams. */
export interface CliOutput {
  out(text: string): void;
  err(text: string): void;
}

export interface CliRegistry extends CliApi {
  /**
   * Runs one command line.
   *
   * @param argv the words after the program's name.
   * @returns the exit code: 0, or 1 after any error, which is one line on `err`.
   */
  run(argv: readonly string[], output: CliOutput): Promise<0 | 1>;
}

/**
 * Commands of the host and its plugins, in the habit of WP-CLI: words, then arguments, then `--name=value`.
 *
 * @param more further commands, asked for when a command line runs; they win over plugins' commands of the same name.
 */
export function createCliRegistry(more: () => Promise<readonly CliCommand[]> = () => Promise.resolve([])): CliRegistry {
  const commands = new Map<string, CliCommand>();
  const loaders = new Set<() => Promise<readonly CliCommand[]>>();
  return {
    addCommand(command) {
      const name = nameOf(command);
      if (commands.has(name)) throw new Error(`There is a command '${name}' already.`);
      commands.set(name, command);
      return () => {
        if (commands.get(name) === command) commands.delete(name);
      };
    },
    addCommands(load) {
      loaders.add(load);
      return () => void loaders.delete(load);
    },
    async run(argv, output) {
      const known = new Map((await more()).map((command) => [nameOf(command), command]));
      for (const [name, command] of commands) if (!known.has(name)) known.set(name, command);
      const loaded = await Promise.all([...loaders].map((load) => loadOrSay(load, output)));
      for (const command of loaded.flat()) addOrSay(known, command, output);
      const { runCommandLine } = await import('./program.ts');
      return runCommandLine([...known.values()], argv, output);
    },
  };
}

function nameOf({ name }: CliCommand): string {
  return name.trim().replace(/\s+/g, ' ');
}

/** Commands that fail to load must not take away those that could repair it. */
async function loadOrSay(
  load: () => Promise<readonly CliCommand[]>,
  output: CliOutput,
): Promise<readonly CliCommand[]> {
  try {
    return await load();
  } catch (error) {
    output.err(`Some commands could not be loaded: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}

function addOrSay(known: Map<string, CliCommand>, command: CliCommand, output: CliOutput): void {
  const name = nameOf(command);
  if (known.has(name)) output.err(`There is a command '${name}' already; the second one is left out.`);
  else known.set(name, command);
}
