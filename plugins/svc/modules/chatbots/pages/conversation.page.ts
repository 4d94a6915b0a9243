import {
  backToList,
  formatCount,
  formatMoney,
  listQuery,
  listView,
  localDay,
  RestError,
  translateText,
  withNotice,
} from '#plugin-api';
import type { AdminPageBody, AdminRequest, AdminView } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { formatCost, type Cost } from '../../../kit/format-cost.ts';
import { errors } from '../../../kit/errors.ts';
import type { Conversation, StoredMessage } from '../conversations/conversation.ts';
import { logsJsonl, readConversations, type ExportedConversation } from '../conversations/export-logs.ts';
import { guestName } from '../conversations/log-rows.ts';
import { readLogList, readRows } from './log-list.ts';
import { readLogsQuery } from './logs-filter.ts';

/** One conversation beside the list it was opened from: its transcript with tokens, cost, sources, feedback and the notes of rules. */
export function createPage(parts: ChatbotParts): AdminPageBody {
  const { host } = parts;

  async function find(value: unknown): Promise<Conversation> {
    const found = typeof value === 'string' && value !== '' ? await parts.conversations.find(value) : null;
    if (found === null) throw errors.conversation_not_found();
    return found;
  }

  async function render(request: AdminRequest): Promise<AdminView> {
    try {
      const { id, uuid } = await find(request.query['conversation']);
      for await (const exported of readConversations(host, [id]))
        return {
          template: 'svc/conversation',
          title: translateText(`${nameOf(exported)}, with ${exported.botName}`),
          data: {
            ...conversationView(parts, exported, await host.site.timezone()),
            ...(await listBeside(parts, request, uuid)),
          },
        };
    } catch (error) {
      if (!(error instanceof RestError)) throw error;
    }
    return { template: 'svc/conversation', data: { isMissing: true } };
  }

  return {
    render,
    actions: {
      export: async ({ form }) => {
        const { id, uuid } = await find(form['conversation']);
        return {
          download: {
            name: `conversation-${uuid}.jsonl`,
            type: 'application/jsonl; charset=utf-8',
            content: logsJsonl(readConversations(host, [id])),
          },
        };
      },
      delete: async ({ form, user, log }) => {
        const conversation = await find(form['conversation']);
        await deleteConversation(parts, conversation);
        log.info('Conversation deleted', {
          event: 'conversation_deleted',
          conversation: conversation.uuid,
          by: user.id,
        });
        return withNotice('success', 'Conversation deleted, including the forms submitted in it.', {
          redirect: backToList({ form }, 'svc/logs', Object.keys(readLogsQuery({}))).redirect,
        });
      },
    },
  };
}

/** Deletes a conversation with the forms that were submitted in it. Returns whether it existed. */
export async function deleteConversation(
  { conversations, submissions }: Pick<ChatbotParts, 'conversations' | 'submissions'>,
  { id, uuid }: Pick<Conversation, 'id' | 'uuid'>,
): Promise<boolean> {
  await submissions.deleteByConversations([uuid]);
  return conversations.delete(id);
}

/** The list that the conversation was opened from, with the same filters and on the same page. */
async function listBeside(parts: ChatbotParts, request: AdminRequest, uuid: string): Promise<Record<string, unknown>> {
  const list = await readLogList(parts, request);
  const at = listQuery(list.state);
  const rows = await readRows(parts, { ...list, at });
  const state = { ...list.state, filters: { ...list.state.filters, conversation: uuid } };
  return {
    fields: { conversation: uuid, back: at },
    beside: {
      back: parts.host.admin.url(at === '' ? 'svc/logs' : `svc/logs?${at}`),
      items: rows.map((row) => ({
        title: row['beginning'],
        note: `${String(row['person'])}, ${String(row['bot'])}`,
        at: row['time'],
        href: row['href'],
        isCurrent: row['uuid'] === uuid,
        badge: row['disliked'] ? { text: 'Disliked', kind: 'warning' } : null,
      })),
      ...listView(state, { columns: [], total: list.total, text: formatCount(list.total, 'conversation') }),
    },
  };
}

function conversationView(
  { host }: ChatbotParts,
  exported: ExportedConversation,
  timezone: string,
): Record<string, unknown> {
  const { conversation, botName, messages } = exported;
  const userName = nameOf(exported);
  const { userId, sessionId, pageUrl } = conversation;
  const identifier =
    userId > 0
      ? { by: 'user', value: String(userId) }
      : sessionId === null
        ? null
        : { by: 'session', value: sessionId };
  return {
    conversation,
    botName,
    userName,
    // The browser sends this URL, so only http and https become links.
    pageLink: /^https?:\/\//i.test(pageUrl) ? pageUrl : '',
    isRest: conversation.module === 'rest_api',
    personHref:
      identifier === null ? '' : `${host.admin.url('svc/personal-data')}?${new URLSearchParams(identifier).toString()}`,
    tokens: messages.reduce((total, { usage }) => total + (usage?.total_tokens ?? 0), 0),
    cost: formatCost(costOf(messages)),
    variables: Object.entries(conversation.variables).map(([name, value]) => ({ name, value })),
    messages: messages.map((message, index) => ({
      ...messageView(message, { botName, userName }),
      isNewDay: localDay(message.createdAt, timezone) !== localDay(messages[index - 1]?.createdAt ?? 0, timezone),
    })),
  };
}

/** Exports have the name of guests in English. */
function nameOf({ conversation, userName }: ExportedConversation): string {
  return conversation.userId === 0 ? translateText(guestName) : userName;
}

function costOf(messages: readonly StoredMessage[]): Cost {
  const called = messages.filter(({ usage, cost }) => usage !== null || cost !== null);
  return {
    cost: called.reduce((total, { cost }) => total + (cost ?? 0), 0),
    calls: called.length,
    unpriced: called.filter(({ cost }) => cost === null).length,
  };
}

function messageView(
  message: StoredMessage,
  { botName, userName }: { readonly botName: string; readonly userName: string },
): Record<string, unknown> {
  return {
    ...message,
    who: message.role === 'user' ? userName : botName,
    isAnswer: message.role === 'assistant',
    costText: message.cost === null ? 'price unknown' : formatMoney(message.cost),
    sources: message.sources.map(({ title, url, score }) => ({
      title: title || url,
      url: /^https?:\/\//i.test(url) ? url : '',
      score: Math.round(score),
    })),
    isLiked: message.feedback === 'up',
    isDisliked: message.feedback === 'down',
  };
}
