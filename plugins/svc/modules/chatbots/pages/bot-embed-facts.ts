import type { HostApi } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';

/** What is copied to show a bot somewhere. */
export interface EmbedFacts {
  readonly script: string;
  readonly shortcode: string;
  readonly checkHref: string;
}

export function embedFacts({ admin, rest }: Pick<HostApi, 'admin' | 'rest'>, { id }: Pick<Bot, 'id'>): EmbedFacts {
  return {
    script: `<script src="${rest.url('/svc-widget/v1/widget.js')}" data-bot="${String(id)}" async></script>`,
    shortcode: `[svc_chatbot id=${String(id)}]`,
    checkHref: `${admin.url('svc/check-site')}?bot=${String(id)}`,
  };
}
