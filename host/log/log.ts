import { writeSync } from 'node:fs';
import type { Clock, LogFields, Logger } from '#plugin-api';
import type { Level, LogLine } from './line.ts';
import { formatReadable } from './readable.ts';
import type { Redactor } from './redactor.ts';
import { serialise } from './serialise.ts';

export interface LoggerDependencies {
  /** Lines below it are dropped; `silent` drops all. */
  readonly level: Level | 'silent';
  readonly clock: Pick<Clock, 'now'>;
  /** Takes one line with its line end. Default: standard error. */
  readonly write?: (line: string) => void;
  readonly redactor?: Pick<Redactor, 'redact'>;
  /** Lines for people instead of JSON. Default: when standard error is a terminal and no `write` is given. */
  readonly readable?: boolean;
}

const ranks: Readonly<Record<Level | 'silent', number>> = { debug: 10, info: 20, warn: 30, error: 40, silent: 50 };

/**
 * The host's logger (see Logger): `{"time", "level", "message", ...fields}`, one object a line, the time as ISO 8601.
 * Fields named like the three are written as `fields_<name>`. Logging never throws: a closed standard error loses the line.
 */
export function createLogger({ level, clock, write, redactor, readable }: LoggerDependencies): Logger {
  const lowest = ranks[level];
  const redact = (text: string): string => redactor?.redact(text) ?? text;
  const asText = (readable ?? (write === undefined && process.stderr.isTTY)) ? formatReadable : formatJson;
  const put = write ?? writeToStandardError;

  function make(bound: LogFields): Logger {
    const at = (name: Level) =>
      ranks[name] < lowest
        ? drop
        : (message: string, fields?: LogFields): void => {
            const line: LogLine = {
              time: new Date(clock.now()).toISOString(),
              level: name,
              message: redact(String(message)),
              fields: serialise({ ...bound, ...fields }, redact) as LogFields,
            };
            put(`${asText(line)}\n`);
          };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => make({ ...bound, ...fields }),
    };
  }
  return make({});
}

function formatJson({ fields, ...head }: LogLine): string {
  const renamed = Object.entries(fields).map(([name, value]) => [name in head ? `fields_${name}` : name, value]);
  return JSON.stringify({ ...head, ...Object.fromEntries(renamed) });
}

function drop(): void {
  // Below the level.
}

function writeToStandardError(line: string): void {
  try {
    // Synchronous, so that the last line before a crash is not lost.
    writeSync(2, line);
  } catch {
    // A full pipe or a closed terminal must not stop the site.
  }
}
