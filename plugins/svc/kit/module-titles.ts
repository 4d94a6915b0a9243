/** Titles of the modules that make calls, by the id in the usage ledger. */
export const moduleTitles: Readonly<Record<string, string>> = {
  chatbots: 'Chatbots',
  'content-writer': 'Content Writer',
  automations: 'Automations',
  'ai-forms': 'AI Forms',
  images: 'Images',
  'knowledge-base': 'Knowledge Base',
};
