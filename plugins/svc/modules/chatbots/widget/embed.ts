import type { HostApi } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import { widgetBot } from './response-mappers.ts';
import type { EmbedAnswer } from '../hooks.ts';
import { widgetNamespace } from './protocol.ts';

type EmbedHost = Pick<HostApi, 'rest' | 'views' | 'hooks'>;

export interface MarkupInit {
  readonly bot: Pick<Bot, 'id' | 'name'>;
  /** Left out: as the bot is set. */
  readonly mode?: Bot['look']['mode'];
}

/** The widget in a page: its element, what is read without scripts, and the script, which counts once however often it is there. */
export function widgetMarkup(
  { rest, views }: Pick<HostApi, 'rest' | 'views'>,
  { bot, mode }: MarkupInit,
): Promise<string> {
  return views.render('svc/chatbots/widget', {
    id: bot.id,
    name: bot.name,
    mode: mode ?? '',
    root: rootOf(rest),
    script: rest.url(`/${widgetNamespace}/widget.js`),
  });
}

function rootOf(rest: Pick<HostApi['rest'], 'url'>): string {
  return rest.url('/').replace(/\/$/, '');
}

/** What `GET /chatbots/{bot_id}/embed-config` answers (contract 2.6), after the filter `svc_chatbot_widget_config`. */
export async function embedAnswer(host: EmbedHost, bot: Bot, origin: string | null): Promise<EmbedAnswer> {
  const { rest, hooks } = host;
  const answer: EmbedAnswer = {
    config: {
      botId: bot.id,
      assetUrls: { css: rest.url(`/${widgetNamespace}/widget.css`), mainJs: rest.url(`/${widgetNamespace}/widget.js`) },
      restRoot: rootOf(rest),
      ...widgetBot(bot),
    },
    html: await widgetMarkup(host, { bot }),
  };
  return hooks.applyFiltersAsync('svc_chatbot_widget_config', answer, bot, origin);
}
