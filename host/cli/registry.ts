import { inRequest, errorText, type CliApi, type CliCommand } from '#plugin-api';
import type { TerminalLanguage, Translate } from './terminal-language.ts';

/** Receives the output of commands. The entry point connects it to the streams of the process. */
export interface CliOutput {
  out(text: string): void;
  err(text: string): void;
  /** Characters in a line of the terminal; without a terminal, tables have one line for each row, as wide as it is. */
  readonly columns?: number;
  /** Reads standard input to its end. Default: that of the process. */
  input?(): Promise<string>;
}

/** Prints in the language of the terminal. */
export interface TranslatedOutput extends CliOutput {
  readonly translate: Translate;
}

export interface CliRegistry extends CliApi {
  /** The commands of plugins, loaded. @throws what a plugin's loader throws. */
  list(): Promise<readonly CliCommand[]>;
  /**
   * Runs one command line.
   *
   * @param argv the arguments after the program name.
   * @returns the exit code: 0, or 1 after an error, which is printed as one line to `err`.
   */
  run(argv: readonly string[], output: CliOutput): Promise<0 | 1>;
}

/**
 * Commands of the host and its plugins, in the style of WP-CLI: name, arguments, then `--name=value`.
 *
 * @param hostCommands loads the commands of the host for each command line: those that begin with a word, or without one all. They
 *   take precedence over plugins.
 * @param terminal default: English.
 */
export function createCliRegistry(
  hostCommands: (first?: string) => Promise<readonly CliCommand[]> = () => Promise.resolve([]),
  terminal?: TerminalLanguage,
): CliRegistry {
  const commands = new Map<string, CliCommand>();
  const loaders = new Set<() => Promise<readonly CliCommand[]>>();
  return {
    addCommand(command) {
      const name = normalizeName(command);
      if (commands.has(name)) throw new Error(`The command '${name}' already exists.`);
      commands.set(name, command);
      return () => {
        if (commands.get(name) === command) commands.delete(name);
      };
    },
    addCommands(load) {
      loaders.add(load);
      return () => void loaders.delete(load);
    },
    list: async () => [...commands.values(), ...(await Promise.all([...loaders].map((load) => load()))).flat()],
    async run(argv, given) {
      const translate = await translatorOf(terminal, argv);
      const output = { ...given, translate };
      let known = byName(await hostCommands(argv[0]), commands.values());
      if (!isComplete(argv, known)) {
        known = byName(await hostCommands(), commands.values());
        const loaded = await Promise.all([...loaders].map((load) => loadOrReport(load, output)));
        for (const command of loaded.flat()) addOrReport(known, command, output);
      }
      const { runCommandLine } = await import('./program.ts');
      return inRequest({ door: 'cli' }, () => runCommandLine([...known.values()], argv, output));
    },
  };
}

/** Whether the arguments name a known command in full, so that no further command can be meant. */
function isComplete(argv: readonly string[], known: ReadonlyMap<string, CliCommand>): boolean {
  return [...known].some(([name, { args = [] }]) => {
    const words = name.split(' ');
    const [next = '-'] = argv.slice(words.length);
    return words.every((word, index) => word === argv[index]) && (args.length > 0 || next.startsWith('-'));
  });
}

/** The first one of each name. */
function byName(...lists: readonly Iterable<CliCommand>[]): Map<string, CliCommand> {
  const found = new Map<string, CliCommand>();
  for (const command of lists.flatMap((list) => [...list])) {
    const name = normalizeName(command);
    if (!found.has(name)) found.set(name, command);
  }
  return found;
}

function normalizeName({ name }: CliCommand): string {
  return name.trim().replace(/\s+/g, ' ');
}

/** Reports commands that fail to load, so that the others still work. */
async function loadOrReport(
  load: () => Promise<readonly CliCommand[]>,
  output: TranslatedOutput,
): Promise<readonly CliCommand[]> {
  try {
    return await load();
  } catch (error) {
    output.err(output.translate(`Failed to load some commands: ${errorText(error)}`));
    return [];
  }
}

function addOrReport(known: Map<string, CliCommand>, command: CliCommand, output: TranslatedOutput): void {
  const name = normalizeName(command);
  if (known.has(name)) output.err(output.translate(`The command '${name}' already exists; the second one is ignored.`));
  else known.set(name, command);
}

async function translatorOf(terminal: TerminalLanguage | undefined, argv: readonly string[]): Promise<Translate> {
  if (terminal === undefined || terminal.locale === '') return (text) => text;
  const { translatorFor } = await import('./terminal-language.ts');
  return translatorFor(terminal, argv);
}
