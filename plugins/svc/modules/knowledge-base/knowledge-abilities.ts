import { argumentBounds, restError, type AbilitiesApi } from '#plugin-api';
import { abilityOrigin } from '../../kit/usage-origin.ts';
import { searchKnowledge } from './find-knowledge.ts';
import type { KnowledgeParts } from './knowledge.ts';

const meta = { annotations: { readonly: true, destructive: false, idempotent: true }, public: true } as const;

/** `svc/list-knowledge-bases` and `svc/search-knowledge` (D34). */
export function registerKnowledgeAbilities(abilities: AbilitiesApi, load: () => Promise<KnowledgeParts>): void {
  abilities.register('svc/list-knowledge-bases', {
    label: 'List knowledge bases',
    description: 'Returns the knowledge bases of the site with their ids.',
    category: 'ai',
    outputSchema: {
      type: 'object',
      properties: {
        bases: {
          type: 'array',
          items: { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } },
        },
      },
      required: ['bases'],
    },
    permission: (_input, { user }) => user.can('manage_options'),
    execute: async () => ({ bases: (await (await load()).bases.list()).map(({ id, name }) => ({ id, name })) }),
    meta,
  });
  abilities.register('svc/search-knowledge', {
    label: 'Search knowledge',
    description: 'Finds the passages of a knowledge base that match a question best.',
    category: 'ai',
    inputSchema: {
      type: 'object',
      properties: {
        base: { type: 'integer', ...argumentBounds.id, minimum: 1, description: 'Id of the knowledge base.' },
        question: { type: 'string', minLength: 1, maxLength: 8_000 },
        limit: { type: 'integer', minimum: 1, maximum: 20, default: 5 },
      },
      required: ['base', 'question'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: { passages: { type: 'array', items: { type: 'object' } } },
      required: ['passages'],
    },
    permission: (_input, { user }) => user.can('manage_options'),
    async execute({ base: id, question, limit = 5 }, call) {
      const parts = await load();
      const base = (await parts.bases.list()).find((each) => each.id === id);
      if (base === undefined)
        throw restError(
          404,
          'rest_svc_knowledge_base_not_found',
          `The knowledge base ${String(id)} does not exist. Call svc/list-knowledge-bases to see all of them.`,
        );
      // The scopes and budgets of the key apply to the embedding of the question.
      const origin = abilityOrigin(call, 'knowledge-base');
      const { signal } = call;
      return { passages: await searchKnowledge(parts, base, { text: question, limit, signal, origin }) };
    },
    meta,
  });
}
