import { readForm, type AdminRequest } from '#plugin-api';
import { readText } from '../../admin-ui/form-values.ts';
import type { Catalogue } from '../catalogue.ts';
import { endpointSchema, type EndpointInput } from '../endpoint.ts';

/** A submitted endpoint form, and the parts that may be shown again if it is rejected. */
export interface EndpointForm {
  readonly input: EndpointInput;
  /** Header lines without their values, which may be secrets. */
  readonly shownHeaders: string;
  readonly errors: Readonly<Record<string, string>>;
}

const paths = Object.keys(endpointSchema.properties).filter((name) => name !== 'events');

export function readEndpointForm(request: AdminRequest, catalogue: Catalogue): EndpointForm {
  const id = readText(request, 'id');
  const secret = readText(request, 'secret');
  const lines = readText(request, 'headers')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  const headers = readHeaders(lines);
  const removed = stringsIn(request.form['_remove']);
  return {
    input: {
      ...(id !== '' && { id }),
      ...readForm(endpointSchema, request.form, { paths }),
      // Events whose plugin is inactive are dropped.
      events: stringsIn(request.form['events']).filter((name) => catalogue.resolveName(name) !== null),
      ...(secret.trim() !== '' ? { secret } : removed.includes('secret') && { secret: '' }),
      headers: {
        ...Object.fromEntries(stringsIn(request.form['removeHeaders']).map((name) => [name, null])),
        ...headers.read,
      },
    },
    shownHeaders: lines.map((line) => `${line.split(':')[0] ?? ''}: `).join('\n'),
    errors:
      headers.broken === null
        ? {}
        : { headers: `'${headers.broken}' is not a valid header. Enter one per line, as Name: value.` },
  };
}

function readHeaders(lines: readonly string[]): {
  readonly read: Readonly<Record<string, string>>;
  readonly broken: string | null;
} {
  const pairs = lines.map((line) => /^([^:\s]+)\s*:(.*)$/.exec(line.trim())?.map((part) => part.trim()));
  const broken = lines.find((_line, index) => (pairs[index]?.[2] ?? '') === '');
  const name = broken?.split(':')[0]?.trim().slice(0, 40) ?? null;
  return {
    read: Object.fromEntries(pairs.flatMap((pair) => (pair ? [[pair[1] ?? '', pair[2] ?? '']] : []))),
    broken: name,
  };
}

/** Values of a field `name[]`. */
export function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : [];
}
