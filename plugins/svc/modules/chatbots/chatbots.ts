import { lazy, lazyValue } from '#plugin-api';
import { lazyMethods } from '../../kit/lazy.ts';
import type { HostPort, KnowledgePort, ProvidersPort, SettingsPort, TextPort, VectorStoresPort } from '../../ports.ts';
import type { BotStore } from './bots/bot.ts';
import type { ConversationStore } from './conversations/conversation.ts';
import type { Logs } from './conversations/logs.ts';
import type { PersonalData } from './conversations/personal-data.ts';
import type { SubmissionStore } from './forms/submission.ts';
import type { CreateReply } from './reply/reply.ts';
import type { Widget } from './widget/widget.ts';

export type ChatbotPorts = HostPort & ProvidersPort & SettingsPort & TextPort & VectorStoresPort & KnowledgePort;

/** What the routes, pages and commands of chatbots share. One per process; the code of most parts is loaded at their first use. */
export interface ChatbotParts extends ChatbotPorts {
  readonly bots: BotStore;
  readonly conversations: ConversationStore;
  readonly submissions: SubmissionStore;
  readonly reply: CreateReply;
  readonly logs: Logs;
  personalData(): Promise<PersonalData>;
  /** What the widget's routes work with. */
  widget(): Promise<Widget>;
}

const botMethods = [
  ...(['get', 'list', 'summaries', 'isEmpty', 'check', 'create', 'createAll', 'update'] as const),
  ...(['duplicate', 'delete', 'defaults'] as const),
] as const;
const conversationMethods = [
  ...(['find', 'messages', 'message', 'latest', 'listByOwner', 'start', 'bindKey', 'append'] as const),
  ...(['remove', 'update', 'setFeedback', 'delete'] as const),
] as const;

export function createChatbots(ports: ChatbotPorts): ChatbotParts {
  const { host } = ports;
  const loadSubmissions = async () => (await import('./forms/submission-store.ts')).createSubmissionStore({ host });
  const submissions: SubmissionStore = {
    ...lazyMethods(loadSubmissions, [
      'add',
      'find',
      'list',
      'count',
      'countByReadState',
      'countNew',
      'mark',
      'delete',
      'listByPerson',
      'listByConversations',
      'deleteByPerson',
      'deleteByConversations',
    ]),
    async *all(filter) {
      yield* (await loadSubmissions()).all(filter);
    },
  };
  const bots: BotStore = lazyMethods(() => loadBots(ports), botMethods);
  const conversations: ConversationStore = lazyMethods(
    async () => (await import('./conversations/conversation-store.ts')).createConversationStore({ host }),
    conversationMethods,
  );
  const logs: Logs = lazyMethods(
    async () => (await import('./conversations/logs.ts')).createLogs({ host }),
    ['page', 'usersLike', 'find', 'all', 'isEmpty', 'perDay', 'index'],
  );
  const reply: CreateReply = lazy(async () => (await import('./reply/create-reply.ts')).createReplies(ports));
  const parts = { ...ports, bots, conversations, submissions, logs, reply };
  return {
    ...parts,
    personalData: lazyValue(async () =>
      (await import('./conversations/personal-data.ts')).createPersonalData({ host, submissions }),
    ),
    widget: lazyValue(async () => (await import('./widget/widget.ts')).createWidget(parts)),
  };
}

async function loadBots(ports: ChatbotPorts): Promise<BotStore> {
  const [{ createBotStore }, { knownNames }, { findFirstModel }] = await Promise.all([
    import('./bots/bot-store.ts'),
    import('../../kit/assistants/known-names.ts'),
    import('../../settings/example-model.ts'),
  ]);
  return createBotStore({ host: ports.host, known: () => knownNames(ports), firstModel: () => findFirstModel(ports) });
}
