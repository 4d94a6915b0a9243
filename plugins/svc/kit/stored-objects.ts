import { isRecord } from '#plugin-api';
import type { TextFormat } from './reasoning.ts';
import { visitSentParts, type SentMember } from './sent-members.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * The path of the first member that names what is stored in the vendor's account, which all keys share: files, containers, vector
 * stores, connectors, skills, voices, conversations, items of earlier answers. Undefined: there is none.
 *
 * What an answer had beside its id may be sent back.
 */
export function storedObject(body: Members, format: TextFormat): string | undefined {
  let found: string | undefined;
  visitSentParts(body, format, (member) => {
    found ??= namesStored(member, format) ? member.path : storedServer(member, format);
  });
  return found ?? (format === 'responses' ? referenceIn(body) : undefined);
}

/** Ids of what is in the request itself, and labels that mean nothing to the vendor. Any other id may be of what is stored. */
export const ownIds: readonly string[] = [
  ...['call_id', 'tool_call_id', 'tool_use_id', 'tool_id', 'item_id', 'caller_id', 'approval_request_id'],
  ...['tab_id', 'download_id'],
  ...['user_id', 'session_id', 'request_id', 'trace_id', 'span_id', 'parent_span_id', 'generation_id'],
];

/** Members that name a stored object whatever their name ends in. */
const storedMembers: Readonly<Record<TextFormat, RegExp>> = {
  chat: /^(messages\[[^\]]*\]\.audio|audio\.voice)\.id$/,
  messages: /^(thread|container\.id)$/,
  responses: /^conversation$|(^|\.)tools\[[^\]]*\]\.container\.id$/,
};

/** Ids of answers that are sent back with their content, objects of the vendor for all, and names that the caller chose. */
const sentBack: Readonly<Record<TextFormat, readonly RegExp[]>> = {
  chat: [/^messages\[\w*\]\.annotations\[/],
  messages: [
    /\.citations\[/,
    /^messages\[\]\.content\[\w+_tool_result\]\.content\.content\[\w+_output\]\.file_id$/,
    /^container\.skills\[anthropic\]\.skill_id$/,
  ],
  responses: [
    /^input\[\w*\]\.content\[output_text\]\.annotations\[/,
    /^input\[(code_interpreter_call|shell_call)\](\.environment)?\.container_id$/,
    /^input\[file_search_call\]\.results\[\w*\]\.file_id$/,
    /^input\[local_shell_call\]\.action\.env\.\w+$/,
    /^prompt\.variables\.\w+$/,
  ],
};

function namesStored({ name, value, shape }: SentMember, format: TextFormat): boolean {
  if (!isNamed(value) || sentBack[format].some((pattern) => pattern.test(shape))) return false;
  if (/_ids?$/.test(name)) return !ownIds.includes(name);
  return storedMembers[format].test(shape) || (name === 'container' && typeof value === 'string');
}

/** An MCP server without an address is one that the vendor has stored by its label. */
function storedServer({ name, value, path }: SentMember, format: TextFormat): string | undefined {
  if (format !== 'responses' || name !== 'tools' || !Array.isArray(value)) return undefined;
  const index = value.findIndex(
    (tool) =>
      isRecord(tool) &&
      tool['type'] === 'mcp' &&
      !['server_url', 'connector_id', 'tunnel_id'].some((member) => isNamed(tool[member])),
  );
  return index < 0 ? undefined : `${path}[${String(index)}]`;
}

/** Members that say how an item came about. It is named by its id alone if it has no others. */
const describing: readonly string[] = [
  ...['id', 'type', 'status', 'role', 'phase', 'created_by', 'agent', 'caller'],
  ...['call_id', 'container_id', 'server_label'],
];

/** An item of the input that is named by its id alone. */
function referenceIn({ input }: Members): string | undefined {
  if (!Array.isArray(input)) return undefined;
  const index = input.findIndex((item) => isRecord(item) && isReference(item));
  return index < 0 ? undefined : `input[${String(index)}]`;
}

function isReference(item: Members): boolean {
  const { type, role, id } = item;
  if (type === 'item_reference' || (!isNamed(type) && !isNamed(role))) return true;
  if (!isNamed(id)) return false;
  if (type === 'image_generation_call') return typeof item['result'] !== 'string' || item['result'] === '';
  // The trigger has no content.
  if (type === 'compaction_trigger') return false;
  return !Object.entries(item).some(([name, value]) => !describing.includes(name) && (value ?? null) !== null);
}

/** An empty list names nothing. */
function isNamed(value: unknown): boolean {
  return (value ?? null) !== null && !(Array.isArray(value) && value.length === 0);
}
