import { asRecord } from '#plugin-api';
import { invalid } from '../../../kit/read-members.ts';

/**
 * Every call of a tool needs its result in the messages right after it, and every result its call. All vendors refuse other
 * conversations, each in its own words, so this refuses them before anything is fetched, reserved or sent.
 *
 * @throws RestError 400 that names the call or the result
 */
export function checkToolResults(messages: readonly unknown[]): void {
  /** Paths of the calls that still need a result, by id. */
  let open = new Map<string, string>();
  let answered = new Set<string>();
  for (const [index, given] of messages.entries()) {
    const message = asRecord(given);
    const path = `messages[${String(index)}]`;
    const id = message['tool_call_id'];
    if (message['role'] === 'tool' && typeof id === 'string') {
      if (answered.has(id))
        throw invalid(`${path}.tool_call_id`, 'has a result already. Send one result for each call.');
      if (!open.delete(id))
        throw invalid(`${path}.tool_call_id`, 'names no tool call of the message before. Send the call as well.');
      answered.add(id);
      continue;
    }
    requireResults(open);
    open = callsOf(message, path);
    answered = new Set();
  }
  requireResults(open);
}

function requireResults(open: ReadonlyMap<string, string>): void {
  const [path] = open.values();
  if (path === undefined) return;
  throw invalid(path, 'has no result. Send a message with the role tool and its id right after it, or omit the call.');
}

function callsOf({ role, tool_calls: calls }: Readonly<Record<string, unknown>>, path: string): Map<string, string> {
  const open = new Map<string, string>();
  if (role !== 'assistant' || !Array.isArray(calls)) return open;
  for (const [index, call] of (calls as unknown[]).entries()) {
    const { id } = asRecord(call);
    if (typeof id !== 'string') continue;
    const at = `${path}.tool_calls[${String(index)}]`;
    if (open.has(id)) throw invalid(`${at}.id`, 'is the id of another call. Give each call another id.');
    open.set(id, at);
  }
  return open;
}
