import type { RestRequest } from '#plugin-api';
import type { Conversation } from '../conversations/conversation.ts';
import { textParam } from './parameters.ts';
import type { Visitor } from './visitor.ts';
import type { Widget } from './widget.ts';

/** Variable of the conversation: `yes` or `no`. Rules can test it, and the transcript shows it. */
const variable = 'solved';

/** What the visitor said in a conversation; null: nothing yet. */
export function readSolved(variables: Conversation['variables']): boolean | null {
  const value = variables[variable];
  return value === 'yes' ? true : value === 'no' ? false : null;
}

/** Stores whether the visitor's question was solved. Conversations that are not stored have no place for it. */
export async function saveSolved(
  { conversations, threads }: Pick<Widget, 'conversations' | 'threads'>,
  visitor: Visitor,
  request: RestRequest,
): Promise<{ readonly solved: boolean }> {
  const solved = request.params['solved'] === true;
  const conversation = await threads.findOwn(visitor, textParam(request, 'conversation'));
  if (conversation !== null)
    await conversations.update(conversation.id, { variables: { [variable]: solved ? 'yes' : 'no' } });
  return { solved };
}
