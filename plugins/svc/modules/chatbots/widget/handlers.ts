import { RestError, RestResponse, type RestRequest } from '#plugin-api';
import { eventResponse, type ServerSentEvent } from '../../../kit/server-sent-events.ts';
import type { ChatMessage } from '../reply/reply.ts';
import { widgetBot, widgetMessage } from './response-mappers.ts';
import { saveFeedback } from './save-feedback.ts';
import { submitForm } from './submit-form.ts';
import { checkAddress } from './moderation.ts';
import { namedOrigin } from '../../../kit/visitors/origin.ts';
import { pageUrl, text } from './parameters.ts';
import type { SendResponse, SendEvent, StartResponse } from './protocol.ts';
import type { FollowedAnswer, SendInput } from './chat-turns.ts';
import type { Visitor } from './visitor.ts';
import type { Widget } from './widget.ts';

/** What the routes of the widget do; loaded with the first call. */
export interface WidgetHandlers {
  start(request: RestRequest): Promise<RestResponse>;
  messages(request: RestRequest): Promise<RestResponse>;
  stop(request: RestRequest): Promise<RestResponse>;
  feedback(request: RestRequest): Promise<RestResponse>;
  forms(request: RestRequest): Promise<RestResponse>;
  /** Whether pages of an origin may call for a bot (D16). */
  allows(origin: string, botId: number): Promise<boolean>;
}

/** Messages that come back when a page is opened again. */
const mostShown = 200;

const unstored = { 'Cache-Control': 'no-store' };

export function createHandlers(widget: Widget): WidgetHandlers {
  const { host, visitors, turns, burst, threads } = widget;

  /** The visitor, if there is a session, counted against floods. */
  async function enter(request: RestRequest): Promise<Visitor> {
    const visitor = await visitors.require(request);
    burst.send(visitor.bot, { ip: visitor.ip, session: visitor.session.id });
    return visitor;
  }

  return {
    allows: (origin, botId) => visitors.allows(namedOrigin(origin, host.site.url), botId),
    start: (request) => start(widget, request),
    async messages(request) {
      const visitor = await enter(request);
      checkAddress(visitor.bot, visitor.ip);
      const following = await turns.send(visitor, sendInput(request));
      return request.headers['accept']?.includes('text/event-stream') ? streamed(widget, following) : whole(following);
    },
    async stop(request) {
      const visitor = await enter(request);
      const conversation = text(request, 'conversation');
      await threads.own(visitor, conversation);
      return new RestResponse({
        body: { stopped: await turns.stop(conversation, text(request, 'message_id')) },
        headers: unstored,
      });
    },
    feedback: async (request) =>
      new RestResponse({ body: await saveFeedback(widget, await enter(request), request), headers: unstored }),
    async forms(request) {
      const visitor = await enter(request);
      checkAddress(visitor.bot, visitor.ip);
      return new RestResponse({ body: await submitForm(widget, visitor, request), headers: unstored });
    },
  };
}

async function start({ visitors, burst, limits, conversations }: Widget, request: RestRequest): Promise<RestResponse> {
  const caller = await visitors.enter(request);
  burst.start(caller.bot, caller.ip);
  const { visitor, token, headers } = await visitors.welcome(caller);
  const { bot, user } = visitor;
  const { wanted, latest } = await conversationsOf({ conversations }, visitor, request);
  const limit = await limits.of(visitor);
  const body: StartResponse = {
    token,
    bot: widgetBot(bot),
    conversation:
      wanted === null
        ? null
        : {
            id: wanted.uuid,
            messages: (await conversations.messages(wanted.id, { last: mostShown })).map(widgetMessage),
          },
    user: { signed_in: user.id > 0, name: user.displayName },
    consented: (wanted ?? latest)?.consentedAt != null,
    limit: limit !== null && (await limits.left(limit)) <= 0 ? limits.shown(bot, limit) : null,
  };
  return new RestResponse({ body, headers: { ...unstored, ...headers } });
}

/** The conversation to go on with: the one that is named, if it is the visitor's, else the latest. */
async function conversationsOf(
  { conversations }: Pick<Widget, 'conversations'>,
  { bot, owner }: Visitor,
  request: RestRequest,
) {
  if (!bot.privacy.keep) return { wanted: null, latest: null };
  const latest = await conversations.latest(bot.id, owner);
  if (request.params['new'] === true) return { wanted: null, latest };
  const named = text(request, 'conversation');
  if (named === '' || named === latest?.uuid) return { wanted: latest, latest };
  const found = (await conversations.listByOwner(bot.id, owner, mostShown)).find(({ uuid }) => uuid === named);
  return { wanted: found ?? null, latest };
}

function sendInput(request: RestRequest): SendInput {
  const { params } = request;
  const conversation = text(request, 'conversation');
  const history = Array.isArray(params['history']) ? (params['history'] as ChatMessage[]) : [];
  return {
    conversation: conversation === '' ? null : conversation,
    messageId: text(request, 'message_id').toLowerCase(),
    text: text(request, 'text'),
    pageUrl: pageUrl(request),
    consent: params['consent'] === true,
    regenerate: params['regenerate'] === true,
    replaces: text(request, 'replaces'),
    history: history.map(({ role, content }) => ({ role, content })),
  };
}

function streamed({ host }: Widget, following: FollowedAnswer): RestResponse {
  return eventResponse(named(following.follow()), {
    clock: host.clock,
    headers: { 'Cache-Control': 'no-store, no-transform' },
  });
}

async function* named(events: AsyncIterable<SendEvent>): AsyncGenerator<ServerSentEvent> {
  for await (const { type, ...data } of events) yield { event: type, data };
}

async function whole(following: FollowedAnswer): Promise<RestResponse> {
  let conversation = '';
  for await (const event of following.follow()) {
    if (event.type === 'accepted') ({ conversation } = event);
    else if (event.type === 'error')
      throw new RestError({ code: event.code, message: event.message, status: event.status });
    else if (event.type === 'done') {
      const { message, form, limit } = event;
      return new RestResponse({
        body: { conversation, message, form, limit } satisfies SendResponse,
        headers: unstored,
      });
    }
  }
  throw new Error('The answer ended without an end.');
}
