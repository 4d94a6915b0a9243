import { argumentBounds, RestResponse, type RestRequest } from '#plugin-api';
import type { ChatbotParts } from './chatbots.ts';
import { defineRoute } from '../../kit/route.ts';
import './hooks.ts';

const assetUrls = {
  type: 'object',
  properties: { css: { type: 'string', format: 'uri' }, mainJs: { type: 'string', format: 'uri' } },
  required: ['css', 'mainJs'],
} as const;

/** `GET /chatbots/{bot_id}/embed-config` (contract 4.8, 2.6, D16): without the key, for pages that may embed the bot. */
export const embedConfigRoute = defineRoute<ChatbotParts>({
  path: '/chatbots/(?P<bot_id>\\d+)/embed-config',
  access: 'public',
  define: (parts) => ({
    summary: 'Embed configuration and markup of a chatbot',
    description:
      'Available to pages that the chatbot’s embed settings allow, by the header Origin, or else Referer. ' +
      'Requests without either are allowed while embedding is on. No API key.',
    tags: ['chatbots'],
    security: ['none'],
    args: { bot_id: { type: 'integer', ...argumentBounds.id, minimum: 1, description: 'Identifier of the chatbot.' } },
    schema: {
      type: 'object',
      properties: {
        config: {
          type: 'object',
          properties: { botId: { type: 'integer' }, assetUrls },
          required: ['botId', 'assetUrls'],
        },
        html: { type: 'string', description: 'Rendered widget markup.' },
      },
      required: ['config', 'html'],
    },
    responses: {
      403: { description: 'The chatbot may not be embedded on this site (rest_svc_origin_not_allowed).' },
      404: { description: 'The chatbot does not exist or is inactive (rest_svc_bot_not_found).' },
    },
    allowOrigin: async (origin, url) => {
      const { visitors } = await parts.widget();
      const { namedOrigin } = await import('../../kit/visitors/origin.ts');
      return visitors.allowsOrigin(namedOrigin(origin, parts.host.site.url), Number(url['bot_id']));
    },
    handler: async (request: RestRequest) => {
      const { visitors } = await parts.widget();
      const { embedResponse } = await import('./widget/embed.ts');
      const { bot, origin } = await visitors.identify(request);
      // The response depends on the caller, so shared caches must not store it.
      return new RestResponse({
        body: await embedResponse(parts.host, bot, origin.origin),
        headers: { 'Cache-Control': 'private, no-cache', Vary: 'Referer' },
      });
    },
  }),
});
