import type { BotEmbed, BotKnowledge, BotSettings } from '../bot.ts';
import { flag, group, line, text, whole } from './fields.ts';

export const knowledgeSchema = group<BotKnowledge>({ title: 'Knowledge', description: 'Texts of a vector store that go into the prompt.' }, {
  enabled: flag({ title: 'Answer from a vector store' }, false),
  store: line({ title: 'Vector store' }, '', 60),
  target: line({ title: 'Index or collection' }, '', 512),
  namespace: line({ title: 'Namespace', description: 'Pinecone only.' }, '', 512),
  embedding_provider: line({ title: 'Embedding provider', description: 'What the index or collection was filled with.' }, '', 60),
  embedding_model: line({ title: 'Embedding model' }, ''),
  top_k: whole({ title: 'Most texts per question' }, 3, [1, 20]),
  min_score: whole({ title: 'Least likeness in percent', description: 'Texts less alike are left out.' }, 20, [0, 100]),
  show_sources: flag({ title: 'Show sources to visitors' }, true),
});

export const moderationSchema = group<BotSettings['moderation']>({ title: 'Moderation' }, {
  banned_words: { type: 'array', title: 'Banned words', description: 'Without regard to case and accents, whole words.', default: [], items: line({ title: 'Word' }, ''), maxItems: 1_000 },
  banned_addresses: { type: 'array', title: 'Banned addresses', description: 'IP addresses and ranges such as 203.0.113.0/24.', default: [], items: line({ title: 'Address' }, '', 60), maxItems: 1_000 },
  message: text({ title: 'Shown in place of an answer' }, 'This message cannot be answered.'),
});

export const privacySchema = group<BotSettings['privacy']>({ title: 'Privacy' }, {
  keep: flag({ title: 'Keep conversations', description: "Off: they live in the visitor's page alone and nothing of them is stored." }, true),
  retention_days: whole({ title: 'Days they are kept', description: 'After the last message; 0: for ever.' }, 0, [0, 36_500]),
  anonymise_ip: flag({ title: 'Anonymise IP addresses', description: 'The last part of IPv4, the last 80 bits of IPv6 are zeroed before an address is stored.' }, true),
});

export const embedSchema = group<BotEmbed>({ title: 'Other sites', description: 'Who may show the chatbot.' }, {
  enabled: flag({ title: 'May be shown: on this site, and on the sites allowed below' }, true),
  allowed_domains: {
    type: 'array',
    title: 'Allowed domains',
    description: "example.com, https://shop.example.com:8443, *.example.com. Empty: this site's own alone.",
    default: [],
    items: line({ title: 'Domain' }, '', 300),
    maxItems: 200,
  },
  any_site: flag({ title: 'Any site' }, false),
});
