import { RestError, RestResponse, retryAfter, type RestRequest } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { eventResponse, type ServerSentEvent } from '../../../kit/server-sent-events.ts';
import { widgetBot, widgetMessage } from './response-mappers.ts';
import { saveFeedback } from './save-feedback.ts';
import { readSolved, saveSolved } from './save-solved.ts';
import { submitForm } from './submit-form.ts';
import { guestRefusal, refuseGuest } from './limits.ts';
import { checkAddress } from './moderation.ts';
import { namedOrigin } from '../../../kit/visitors/origin.ts';
import { sentSession } from '../../../kit/visitors/page-sessions.ts';
import { pageUrlParam, textParam } from './parameters.ts';
import type { HistoryMessage, SendResponse, SendEvent, StartResponse } from './protocol.ts';
import type { FollowedAnswer, SendInput } from './chat-turns.ts';
import type { Visitor } from './visitor.ts';
import type { Widget } from './widget.ts';
import type { RouteHandlers } from '../../../kit/route.ts';

/** Handlers of the widget's routes, loaded at the first call. */
export interface WidgetHandlers extends RouteHandlers<'start' | 'messages' | 'stop' | 'feedback' | 'solved' | 'forms'> {
  /** Whether pages of an origin may use a bot (D16). */
  allowsOrigin(origin: string, botId: number): Promise<boolean>;
  /**
   * Before a large body is read: the chatbot, the page, the address, and the session, unless a page of another site has it in
   * the body, as widgets did before the header.
   */
  maySend(request: RestRequest): Promise<undefined>;
}

/** Messages that are shown when a page is opened again. */
const maxShownMessages = 200;

/** Milliseconds after which a page may send a message again that an outage of the database kept from an answer. */
const outageWait = 5_000;

const noStore = { 'Cache-Control': 'no-store' };

export function createHandlers(widget: Widget): WidgetHandlers {
  const { host, visitors, turns, floodLimit, threads } = widget;

  /** The visitor of a session; counts the call against floods. */
  async function identifyVisitor(request: RestRequest): Promise<Visitor> {
    const visitor = await visitors.requireSession(request).catch(hideBot);
    floodLimit.countSend(visitor.bot, { ip: visitor.ip, session: visitor.session.id });
    return visitor;
  }

  return {
    allowsOrigin: (origin, botId) => visitors.allowsOrigin(namedOrigin(origin, host.site.url), botId),
    async maySend(request) {
      const { bot, ip, session, origin } = await visitors.identify(request).catch(hideBot);
      checkAddress(bot, ip);
      if (session === null && (origin.isOwn || sentSession(request) !== '')) throw errors.session_invalid();
      return undefined;
    },
    start: (request) => start(widget, request),
    async messages(request) {
      const visitor = await identifyVisitor(request);
      checkAddress(visitor.bot, visitor.ip);
      refuseGuest(visitor);
      const answer = await turns.send(visitor, readSendInput(request));
      return request.headers['accept']?.includes('text/event-stream')
        ? streamResponse(widget, answer)
        : wholeResponse(answer);
    },
    async stop(request) {
      const visitor = await identifyVisitor(request);
      const conversation = textParam(request, 'conversation');
      await threads.findOwn(visitor, conversation);
      return new RestResponse({
        body: { stopped: await turns.stop(conversation, textParam(request, 'message_id')) },
        headers: noStore,
      });
    },
    feedback: async (request) =>
      new RestResponse({ body: await saveFeedback(widget, await identifyVisitor(request), request), headers: noStore }),
    solved: async (request) =>
      new RestResponse({ body: await saveSolved(widget, await identifyVisitor(request), request), headers: noStore }),
    async forms(request) {
      const visitor = await identifyVisitor(request);
      checkAddress(visitor.bot, visitor.ip);
      refuseGuest(visitor);
      return new RestResponse({ body: await submitForm(widget, visitor, request), headers: noStore });
    },
  };
}

/** To visitors, a chatbot that is switched off or deleted is a chat that is not available. */
function hideBot(error: unknown): never {
  throw error instanceof RestError && error.code === 'rest_svc_bot_not_found' ? errors.chat_not_available() : error;
}

async function start(
  { host, visitors, floodLimit, limits, conversations }: Widget,
  request: RestRequest,
): Promise<RestResponse> {
  const caller = await visitors.identify(request).catch(hideBot);
  floodLimit.countStart(caller.bot, caller.ip);
  const { visitor, token, headers } = await visitors.ensureSession(caller);
  const { bot, user } = visitor;
  const { current, latest } = await findConversations({ conversations }, visitor, request);
  const usedUp = await limits.usedUp(await limits.of(visitor), bot.limits);
  const body: StartResponse = {
    token,
    bot: widgetBot(bot, host),
    conversation:
      current === null
        ? null
        : {
            id: current.uuid,
            solved: readSolved(current.variables),
            messages: (await conversations.messages(current.id, { last: maxShownMessages })).map(widgetMessage),
          },
    user: { signed_in: user.id > 0, name: user.displayName, is_admin: user.can('manage_options') },
    consented: (current ?? latest)?.consentedAt != null,
    limit: guestRefusal(visitor) ?? usedUp,
  };
  return new RestResponse({ body, headers: { ...noStore, ...headers } });
}

/** The conversation to continue: the requested one if it is the visitor's own, else the latest. */
async function findConversations(
  { conversations }: Pick<Widget, 'conversations'>,
  { bot, owner }: Visitor,
  request: RestRequest,
) {
  if (!bot.privacy.keep) return { current: null, latest: null };
  const latest = await conversations.latest(bot.id, owner);
  if (request.params['new'] === true) return { current: null, latest };
  const requested = textParam(request, 'conversation');
  if (requested === '' || requested === latest?.uuid) return { current: latest, latest };
  const found = (await conversations.listByOwner(bot.id, owner, maxShownMessages)).find(
    ({ uuid }) => uuid === requested,
  );
  return { current: found ?? null, latest };
}

function readSendInput(request: RestRequest): SendInput {
  const { params } = request;
  const conversation = textParam(request, 'conversation');
  const history = Array.isArray(params['history']) ? (params['history'] as HistoryMessage[]) : [];
  return {
    conversation: conversation === '' ? null : conversation,
    messageId: textParam(request, 'message_id').toLowerCase(),
    text: textParam(request, 'text'),
    pageUrl: pageUrlParam(request),
    consent: params['consent'] === true,
    regenerate: params['regenerate'] === true,
    replaces: textParam(request, 'replaces'),
    history,
  };
}

function streamResponse({ host }: Widget, answer: FollowedAnswer): RestResponse {
  return eventResponse(toServerSentEvents(answer.follow()), {
    clock: host.clock,
    headers: { 'Cache-Control': 'no-store, no-transform' },
  });
}

async function* toServerSentEvents(events: AsyncIterable<SendEvent>): AsyncGenerator<ServerSentEvent> {
  for await (const { type, ...data } of events) yield { event: type, data };
}

async function wholeResponse(answer: FollowedAnswer): Promise<RestResponse> {
  let conversation = '';
  for await (const event of answer.follow()) {
    if (event.type === 'accepted') ({ conversation } = event);
    else if (event.type === 'error') {
      const { status, code, message } = event;
      throw new RestError({ status, code, message, ...(status === 503 && { headers: retryAfter(outageWait) }) });
    } else if (event.type === 'done') {
      const { message, form, limit } = event;
      return new RestResponse({
        body: { conversation, message, form, limit } satisfies SendResponse,
        headers: noStore,
      });
    }
  }
  throw new Error('The answer stream ended without `done` or `error`.');
}
