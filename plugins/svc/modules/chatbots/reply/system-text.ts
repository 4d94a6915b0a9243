import { knowledgePart } from '../../../kit/assistants/assistant-knowledge.ts';
import type { ChatbotPrompt } from './turn.ts';

/** Instructions, what rules added, and what was found, as one system text; empty parts are left out. */
export function systemText({
  system,
  contexts,
  knowledge,
}: Pick<ChatbotPrompt, 'system' | 'contexts' | 'knowledge'>): string {
  return [system, ...contexts, knowledgePart(knowledge, 'the latest message of the conversation')]
    .filter((part) => part.trim() !== '')
    .join('\n\n');
}
