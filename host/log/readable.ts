import { inspect, styleText } from 'node:util';
import type { Level, LogLine } from './line.ts';

const colours: Readonly<Record<Level, 'gray' | 'green' | 'yellow' | 'red'>> = {
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
};

/** One line for a person at a terminal: `10:20:30 INFO  message name=value`, an error's stack indented below it. */
export function formatReadable({ time, level, message, fields }: LogLine): string {
  const stacks: string[] = [];
  const members = Object.entries(fields).map(([name, value]) => {
    const stack = stackOf(value);
    if (stack !== null) stacks.push(stack.replace(/^/gm, '    '));
    const shown = stack === null ? value : (value as { message?: unknown }).message;
    return `${styleText('dim', `${name}=`)}${typeof shown === 'string' && /^[\w./:@-]+$/.test(shown) ? shown : inspect(shown, { breakLength: Infinity, depth: 6 })}`;
  });
  const head = `${styleText('dim', time.slice(11, 19))} ${styleText(colours[level], level.toUpperCase().padEnd(5))}`;
  return [[head, clean(message), ...members].join(' '), ...stacks].join('\n');
}

function stackOf(value: unknown): string | null {
  const stack = typeof value === 'object' && value !== null && 'stack' in value ? value.stack : null;
  return typeof stack === 'string' ? stack : null;
}

/** Control characters of foreign text could rewrite the terminal. */
function clean(message: string): string {
  return message.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '\uFFFD');
}
