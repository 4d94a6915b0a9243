import type { CliCommand } from '#plugin-api';

const shells = ['bash', 'zsh', 'fish'] as const;

/**
 * `completion bash|zsh|fish`: prints a script that completes commands and flags.
 *
 * @param commands all commands, also those of plugins.
 */
export function completionCommand(commands: readonly CliCommand[]): CliCommand {
  return {
    name: 'completion',
    result: 'data',
    description: 'Prints a script that completes commands in a shell.',
    args: [
      { name: 'shell', description: 'bash, zsh or fish. For bash: eval "$(npm run --silent cli -- completion bash)"' },
    ],
    flags: {
      name: {
        type: 'string',
        default: 'cli',
        description: "Name of the command to complete. Default: cli, for: alias cli='npm run --silent cli --'",
      },
    },
    run({ args: [shell = ''], flags }) {
      const name = String(flags['name']);
      if (!/^[a-z][a-z0-9_-]*$/.test(name))
        throw new Error(`--name is '${name}'; use lowercase letters, digits, hyphens and underscores.`);
      const words = collectWords(commands);
      if (shell === 'bash') return Promise.resolve(bashScript(name, words));
      if (shell === 'zsh')
        return Promise.resolve(`autoload -U +X bashcompinit && bashcompinit\n${bashScript(name, words)}`);
      if (shell === 'fish') return Promise.resolve(fishScript(name, words));
      throw new Error(`The shell '${shell}' is unknown; choose one of ${shells.join(', ')}.`);
    },
  };
}

/** Next words by the words before them: commands of a group, or flags of a command. */
type Words = ReadonlyMap<string, readonly string[]>;

function collectWords(commands: readonly CliCommand[]): Words {
  const found = new Map<string, Set<string>>();
  const add = (path: string, word: string): void => void found.set(path, (found.get(path) ?? new Set()).add(word));
  for (const { name, flags = {} } of commands) {
    const parts = name.trim().split(/\s+/);
    parts.forEach((part, index) => add(parts.slice(0, index).join(' '), part));
    for (const flag of [...Object.keys(flags), 'json', 'help']) add(parts.join(' '), `--${flag}`);
  }
  // A shell would run what is in another word; names of plugins are not checked for that.
  const isPlain = (word: string): boolean => /^[\w:.-]+$/.test(word);
  return new Map(
    [...found]
      .filter(([path]) => path.split(' ').every((part) => part === '' || isPlain(part)))
      .map(([path, words]) => [path, [...words].filter(isPlain).sort()]),
  );
}

function bashScript(name: string, words: Words): string {
  const prefix = `_${name.replaceAll('-', '_')}`;
  const cases = [...words].map(([path, next]) => `    '${path}') echo '${next.join(' ')}' ;;`);
  return `${prefix}_words() {
  case "$1" in
${cases.join('\n')}
    *) return 1 ;;
  esac
}
${prefix}_complete() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[*]:1:COMP_CWORD-1}" words
  until words=$(${prefix}_words "$before"); do
    case "$before" in
      *' '*) before="\${before% *}" ;;
      *) before='' ;;
    esac
  done
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F ${prefix}_complete ${name}`;
}

function fishScript(name: string, words: Words): string {
  const prefix = `__${name.replaceAll('-', '_')}`;
  const cases = [...words].map(([path, next]) => `    case '${path}'\n      printf '%s\\n' ${next.join(' ')}`);
  return `function ${prefix}_words
  switch "$argv[1]"
${cases.join('\n')}
    case '*'
      return 1
  end
end
function ${prefix}_complete
  set -l before (commandline -opc)[2..-1]
  while not ${prefix}_words "$before"
    set -e before[-1]
  end
end
complete -c ${name} -f -a '(${prefix}_complete)'`;
}
