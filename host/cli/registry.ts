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
  return {
    addCommand(command) {
      const name = command.name.trim().replace(/\s+/g, ' ');
      if (commands.has(name)) throw new Error(`There is a command '${name}' already.`);
      commands.set(name, command);
      return () => {
        if (commands.get(name) === command) commands.delete(name);
      };
    },
    async run(argv, output) {
      const own = await more();
      const names = new Set(own.map(({ name }) => name));
      const { runCommandLine } = await import('./program.ts');
      return runCommandLine([...own, ...[...commands.values()].filter(({ name }) => !names.has(name))], argv, output);
    },
  };
}
