import type { HostApi } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import { widgetBot } from './response-mappers.ts';
import type { EmbedResponse } from '../hooks.ts';
import { widgetNamespace } from './protocol.ts';
import { inSiteLanguage } from './built-in-texts.ts';

type EmbedHost = Pick<HostApi, 'rest' | 'views' | 'hooks' | 'i18n'>;

export interface MarkupInit {
  readonly bot: Pick<Bot, 'id' | 'name'>;
  /** Default: the bot's own mode. */
  readonly mode?: Bot['look']['mode'];
}

/** The widget's markup: its element, a text for browsers without scripts, and the script, which runs once per page. */
export function widgetMarkup(
  { rest, views }: Pick<HostApi, 'rest' | 'views'>,
  { bot, mode }: MarkupInit,
): Promise<string> {
  return views.render('svc/chatbots/widget', {
    id: bot.id,
    name: bot.name,
    mode: mode ?? '',
    root: restRoot(rest),
    script: rest.url(`/${widgetNamespace}/widget.js`),
  });
}

function restRoot(rest: Pick<HostApi['rest'], 'url'>): string {
  return rest.url('/').replace(/\/$/, '');
}

/** The response of `GET /chatbots/{bot_id}/embed-config` (contract 2.6), after the filter `svc_chatbot_widget_config`. */
export async function embedResponse(host: EmbedHost, bot: Bot, origin: string | null): Promise<EmbedResponse> {
  const { rest, hooks } = host;
  const response: EmbedResponse = {
    config: {
      botId: bot.id,
      assetUrls: { css: rest.url(`/${widgetNamespace}/widget.css`), mainJs: rest.url(`/${widgetNamespace}/widget.js`) },
      restRoot: restRoot(rest),
      ...widgetBot(inSiteLanguage(bot, host), host),
    },
    html: await widgetMarkup(host, { bot }),
  };
  return hooks.applyFiltersAsync('svc_chatbot_widget_config', response, bot, origin);
}
