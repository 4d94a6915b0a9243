import { isRecord } from '#plugin-api';
import type { TextFormat } from './reasoning.ts';

type Members = Readonly<Record<string, unknown>>;

/** A member of a request in the format of a vendor, at any depth. */
export interface SentMember {
  readonly name: string;
  readonly value: unknown;
  /** For errors, for example `tools[0].model`. */
  readonly path: string;
  /** The path with types in the brackets: `tools[image_generation].model`. */
  readonly shape: string;
}

/** What tools returned. It is the caller's own too, but may have parts that the vendor reads, such as files. */
const results: Readonly<Record<TextFormat, readonly RegExp[]>> = {
  chat: [],
  messages: [/^messages\[\]\.content\[(\w+_)?tool_result\]\.content$/],
  responses: [/^input\[\w+_output\]\.output$/],
};

/**
 * Members whose content is the caller's own, and means nothing to the vendor: JSON schemas, arguments of functions, labels. An
 * item of a list is written as its type in brackets.
 */
const ownData: Readonly<Record<TextFormat, readonly RegExp[]>> = {
  chat: [
    /^metadata$/,
    /^functions\[\]\.parameters$/,
    /^tools\[function\]\.function\.parameters$/,
    /^response_format\.json_schema\.schema$/,
    /^messages\[\]\.(parsed|function_call\.arguments)$/,
    /^messages\[\]\.tool_calls\[(function)?\]\.function\.(parsed_)?arguments$/,
  ],
  messages: [
    /^metadata$/,
    /^tools\[(custom)?\]\.(input_schema|input_examples)$/,
    /^(output_config\.format|output_format)\.schema$/,
    /^messages\[\]\.content\[(\w+_)?tool_use\]\.input$/,
  ],
  responses: [
    /^metadata$/,
    /^(input\[\w*\]\.)?tools\[(namespace\]\.tools\[)?function\]\.(parameters|output_schema)$/,
    /^tools\[tool_search\]\.parameters$/,
    /^text\.format\.schema$/,
    /^input\[\w+_call\]\.(arguments|input)$/,
    /^input\[mcp_list_tools\]\.tools\[\]\.input_schema$/,
  ],
};

type Visit = (member: SentMember) => void;

/** Visits the members of a request, outer ones before those inside, without what is the caller's own data. */
export function visitSent(body: Members, format: TextFormat, visit: Visit): void {
  visitMembers(body, [...ownData[format], ...results[format]], visit);
}

/** The same with what tools returned. */
export function visitSentParts(body: Members, format: TextFormat, visit: Visit): void {
  visitMembers(body, ownData[format], visit);
}

function visitMembers(body: Members, own: readonly RegExp[], visit: Visit): void {
  const walk = (value: unknown, path: string, shape: string): void => {
    if (Array.isArray(value)) {
      for (const [index, item] of (value as unknown[]).entries())
        if (typeof item === 'object') walk(item, `${path}[${String(index)}]`, `${shape}[${typeOf(item)}]`);
      return;
    }
    if (!isRecord(value)) return;
    const dot = path === '' ? '' : '.';
    for (const [name, member] of Object.entries(value)) {
      const inner = `${shape}${dot}${plain(name)}`;
      if (own.some((pattern) => pattern.test(inner))) continue;
      const at = `${path}${dot}${name}`;
      visit({ name, value: member, path: at, shape: inner });
      if (typeof member === 'object') walk(member, at, inner);
    }
  };
  walk(body, '', '');
}

function typeOf(item: unknown): string {
  const type = isRecord(item) ? item['type'] : undefined;
  return typeof type === 'string' ? plain(type) || '?' : '';
}

/** Names with other characters are of no format, and must not look like a path of one. */
function plain(name: string): string {
  return /^\w+$/.test(name) ? name : '?';
}
