import { writeSync } from 'node:fs';
import type { Clock, LogFields, Logger } from '#plugin-api';
import type { Redactor } from './redactor.ts';
import { serialise } from './serialise.ts';
import { inspect, styleText } from 'node:util';

const colors: Readonly<Record<Level, 'gray' | 'green' | 'yellow' | 'red'>> = {
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
};

/** One line for a terminal: `10:20:30 INFO  message name=value`, an error's stack indented below it. */
function formatReadable({ time, level, message, fields }: LogLine): string {
  const stacks: string[] = [];
  const members = Object.entries(fields).map(([name, value]) => {
    const stack = readStack(value);
    if (stack !== null) stacks.push(stack.replace(/^/gm, '    '));
    const shown = stack === null ? value : (value as { message?: unknown }).message;
    const isPlain = typeof shown === 'string' && /^[\w./:@-]+$/.test(shown);
    return styleText('dim', `${name}=`) + (isPlain ? shown : inspect(shown, { breakLength: Infinity, depth: 6 }));
  });
  const head = `${styleText('dim', time.slice(11, 19))} ${styleText(colors[level], level.toUpperCase().padEnd(5))}`;
  return [[head, stripControls(message), ...members].join(' '), ...stacks].join('\n');
}

function readStack(value: unknown): string | null {
  const stack = typeof value === 'object' && value !== null && 'stack' in value ? value.stack : null;
  return typeof stack === 'string' ? stack : null;
}

/** Control characters in external text could manipulate the terminal. */
function stripControls(message: string): string {
  return message.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '\uFFFD');
}

export interface LoggerDependencies {
  /** Lines below this level are dropped; `silent` drops all. */
  readonly level: Level | 'silent';
  readonly clock: Pick<Clock, 'now'>;
  /** Writes one line, including its line break. Default: standard error. */
  readonly write?: (line: string) => void;
  readonly redactor?: Pick<Redactor, 'redact'>;
  /**
   * Names the plugin that the member `error` came from, for lines that name no `plugin` themselves. It goes before the plugin
   * whose logger it is; an `owner` goes before it in lines of the host. Default: none.
   */
  readonly pluginOf?: (error: unknown) => string | null;
  /** Human-readable lines instead of JSON. Default: true if standard error is a terminal and `write` is not set. */
  readonly readable?: boolean;
}

const ranks: Readonly<Record<Level | 'silent', number>> = { debug: 10, info: 20, warn: 30, error: 40, silent: 50 };

/**
 * The host's logger (see Logger): `{"time", "level", "message", ...fields}`, one object per line, with an ISO 8601 time.
 * Fields with one of these names are written as `fields_<name>`. Logging never throws, whatever it is
 * given: if standard error is closed, the line is lost.
 */
export function createLogger({ level, clock, write, redactor, pluginOf, readable }: LoggerDependencies): Logger {
  const lowest = ranks[level];
  const redact = (text: string): string => redactor?.redact(text) ?? text;
  const asText = (readable ?? (write === undefined && process.stderr.isTTY)) ? formatReadable : formatJson;
  const writeLine = write ?? writeToStandardError;

  const withPlugin = (bound: LogFields, given: LogFields): LogFields => {
    const fields = { ...bound, ...given };
    if (given['plugin'] !== undefined) return fields;
    const owner = fields['owner'] === 'host' ? undefined : fields['owner'];
    const thrower = fields['error'] === undefined ? undefined : pluginOf?.(fields['error']);
    // What a plugin logs may be an error of a callback that another one added to its hook.
    const plugin = bound['plugin'] === undefined ? (owner ?? thrower) : (thrower ?? bound['plugin']);
    return typeof plugin === 'string' ? { ...fields, plugin } : fields;
  };

  function writeAt(name: Level, message: string, { bound, fields }: Record<'bound' | 'fields', LogFields>): void {
    const line: LogLine = {
      time: new Date(clock.now()).toISOString(),
      level: name,
      message: redact(String(message)),
      fields: serialise(withPlugin(bound, fields), redact) as LogFields,
    };
    writeLine(`${asText(line)}\n`);
  }

  function createChild(bound: LogFields): Logger {
    const logAt = (name: Level) =>
      ranks[name] < lowest
        ? drop
        : (message: string, fields?: LogFields): void => {
            const written = attempt(() => writeAt(name, message, { bound, fields: fields ?? {} }));
            if (!written)
              attempt(() =>
                writeAt(name, 'Failed to write log line', { bound: {}, fields: { event: 'log_line_unwritable' } }),
              );
          };
    return {
      debug: logAt('debug'),
      info: logAt('info'),
      warn: logAt('warn'),
      error: logAt('error'),
      child: (fields) => createChild({ ...bound, ...fields }),
    };
  }
  return createChild({});
}

function formatJson({ fields, ...head }: LogLine): string {
  const renamed = Object.entries(fields).map(([name, value]) => [name in head ? `fields_${name}` : name, value]);
  return JSON.stringify({ ...head, ...Object.fromEntries(renamed) });
}

/** Whether the work succeeded: nothing that is logged may stop what logs it. */
function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

function drop(): void {
  // Below the log level.
}

function writeToStandardError(line: string): void {
  try {
    // Synchronous, so that the last line before a crash is written.
    writeSync(2, line);
  } catch {
    // A full pipe or a closed terminal must not stop the site.
  }
}

export type Level = 'debug' | 'info' | 'warn' | 'error';

/** One line before it is formatted. */
interface LogLine {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: Level;
  readonly message: string;
  /** Already serialized and redacted. */
  readonly fields: LogFields;
}
