import type { ChatbotParts } from '../chatbots.ts';
import { missingSettings } from '../../../settings/configured.ts';
import type { BotSettings } from '../bots/bot.ts';
import type { Choice } from '../../../admin-ui/setting-field.ts';
import { providerChoices } from '../../../admin-ui/model-choices.ts';
import { basicsSection } from './bot-section-basics.ts';
import { embedSection } from './bot-section-embed.ts';
import { knowledgeSection } from './bot-section-knowledge.ts';
import { limitsSection } from './bot-section-limits.ts';
import { lookSection } from './bot-section-look.ts';
import { safetySection } from './bot-section-safety.ts';
import { textsSection } from './bot-section-texts.ts';
import type { Section } from './bot-section.ts';

/**
 * All sections of the editor with what there is to choose from now.
 *
 * @param defaults of a new bot
 */
export async function editorSpecs(
  parts: ChatbotParts,
  defaults: Pick<BotSettings, 'texts'>,
): Promise<readonly Section[]> {
  const [providers, embeddingProviders, stores, bases] = await Promise.all([
    providerChoices(parts, 'text'),
    providerChoices(parts, 'embeddings'),
    storeChoices(parts),
    parts.knowledgeBases(),
  ]);
  return [
    basicsSection(providers),
    knowledgeSection({
      stores,
      embeddingProviders,
      bases: bases.map(({ id, name }) => ({ value: String(id), label: name })),
    }),
    lookSection,
    textsSection(defaults.texts),
    limitsSection,
    safetySection,
    embedSection,
  ];
}

async function storeChoices({ vectorStores, vectorStoreSettings }: ChatbotParts): Promise<Choice[]> {
  return Promise.all(
    vectorStores.all().map(async (store) => {
      const missing = missingSettings(store, await vectorStoreSettings.effective(store.id));
      return { value: store.id, label: missing.length === 0 ? store.label : `${store.label} (not set up)` };
    }),
  );
}
