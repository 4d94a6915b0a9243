import { argumentBounds, type AbilitiesApi } from '#plugin-api';
import { abilityOrigin } from '../../kit/usage-origin.ts';
import type { TextPorts } from './generate.route.ts';

/** `svc/generate-text` (D34). Budgets, failover and the scopes of the caller's key apply as to every call. */
export function registerTextAbilities(abilities: AbilitiesApi, { generateText }: TextPorts): void {
  abilities.register('svc/generate-text', {
    label: 'Generate text',
    description: 'Generates a text with an AI provider of the site. It costs what the provider charges.',
    category: 'ai',
    inputSchema: {
      type: 'object',
      properties: {
        prompt: { type: 'string', minLength: 1, ...argumentBounds.document, ui: { widget: 'textarea', rows: 6 } },
        system_instruction: { type: 'string', ...argumentBounds.document, description: 'How to respond.' },
        provider: { type: 'string', ...argumentBounds.key, description: 'Id of a provider, for example openai.' },
        model: { type: 'string', ...argumentBounds.line, description: "Leave out for the provider's default." },
      },
      required: ['prompt', 'provider'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        content: { type: 'string' },
        provider: { type: 'string' },
        model: { type: 'string' },
        input_tokens: { type: 'integer' },
        output_tokens: { type: 'integer' },
        finish_reason: { type: 'string', enum: ['stop', 'length', 'content_filter'] },
      },
      required: ['content', 'provider', 'model'],
    },
    permission: (_input, { user }) => user.can('edit_others_posts'),
    async execute({ prompt, provider, model, system_instruction: systemInstruction }, call) {
      const { content, usage, ...result } = await generateText({
        provider,
        model,
        messages: [{ role: 'user', content: prompt }],
        systemInstruction,
        user: call.user,
        signal: call.signal,
        origin: abilityOrigin(call, 'text'),
      });
      const { input_tokens, output_tokens } = usage;
      const finish_reason = result.finish ?? 'stop';
      return { content, provider: result.provider, model: result.model, input_tokens, output_tokens, finish_reason };
    },
    meta: { annotations: { readonly: false, destructive: false, idempotent: false }, public: true },
  });
}
