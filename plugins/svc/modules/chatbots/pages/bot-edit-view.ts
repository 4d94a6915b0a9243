import type { ChatbotParts } from '../chatbots.ts';
import type { FieldErrors } from '../../../kit/field-errors.ts';
import type { Bot, BotSettings } from '../bots/bot.ts';
import {
  errorAt,
  fieldRow,
  inputId,
  valueAt,
  type Draft,
  type FieldRow,
  type FieldSpec,
  type Choice,
} from '../../../admin-ui/setting-field.ts';
import { botHead, botPreview } from './bot-head.ts';
import { offeredModels, providerChoices } from '../../../admin-ui/model-choices.ts';
import { limitRows, limitFields, limitsSection } from './bot-section-limits.ts';
import { embedCode, embedSection } from './bot-section-embed.ts';
import type { Section } from './bot-section.ts';
import { missingSettings } from '../../../settings/configured.ts';
import { basicsSection } from './bot-section-basics.ts';
import { knowledgeSection } from './bot-section-knowledge.ts';
import { lookSection } from './bot-section-look.ts';
import { safetySection } from './bot-section-safety.ts';
import { textsSection } from './bot-section-texts.ts';

/** A form that was refused, or one that requested the list of indexes. */
export interface Typed {
  readonly draft: Draft;
  readonly errors: FieldErrors;
  /** Indexes or collections of the chosen vector store; `note` says what was found or why it could not be read. */
  readonly targets?: { readonly names: readonly string[]; readonly note: string };
}

/** The data of `svc/bot-edit`. */
export async function botEditView(
  parts: ChatbotParts,
  bot: Bot,
  typed: Typed = { draft: bot as unknown as Draft, errors: {} },
): Promise<Record<string, unknown>> {
  const sections = await editorSpecs(parts, await parts.bots.defaults());
  const shown = sections.map((section) => sectionView(section, typed));
  return {
    head: botHead(parts.host, bot, 'settings'),
    preview: { ...botPreview(parts.host, bot), follows: true },
    id: bot.id,
    errors: errorList(sections, typed.errors),
    sections: shown,
    models: await offeredModels(parts),
    targets: typed.targets,
    embed: embedCode(parts.host, bot),
  };
}

function sectionView(section: Section, typed: Typed): Record<string, unknown> {
  const groups = section.groups.map(({ title, help, wide, fields }) => ({
    title,
    help,
    wide,
    fields: fields.map((spec) => fieldRow(withSavedChoice(spec, typed.draft), typed)),
  }));
  const limits = section.id === 'limits' ? limitRows(typed) : undefined;
  return {
    id: section.id,
    title: section.title,
    help: section.help,
    groups,
    errors: [...groups.flatMap(({ fields }) => fields), ...(limits ?? []).flatMap(({ fields }) => fields)].filter(
      ({ error }: Pick<FieldRow, 'error'>) => error !== undefined,
    ).length,
    limits,
    isKnowledge: section.id === 'knowledge',
    isEmbed: section.id === 'embed',
  };
}

/** Adds a saved choice that is no longer available, so that saving does not change it. */
function withSavedChoice(spec: FieldSpec, draft: Draft): FieldSpec {
  const value = valueAt(draft, spec.path);
  if (spec.list?.startsWith('models-')) {
    const provider = valueAt(draft, spec.list === 'models-text' ? 'provider' : 'knowledge.embedding_provider');
    return { ...spec, list: `${spec.list}-${String(provider ?? '')}` };
  }
  if (spec.type !== 'select' || typeof value !== 'string' || spec.options?.some((choice) => choice.value === value))
    return spec;
  return {
    ...spec,
    options: [...(spec.options ?? []), { value, label: value === '' ? 'None' : `${value} (not available)` }],
  };
}

/** The errors, each with a link to its field. */
function errorList(
  sections: readonly Section[],
  errors: FieldErrors,
): { readonly href: string; readonly sentence: string }[] {
  const specs = [
    ...sections.flatMap(({ groups }) => groups.flatMap(({ fields }) => fields)),
    ...limitFields('limits.guest', 'Guests'),
    ...limitFields('limits.user', 'Signed-in users'),
  ];
  return Object.entries(errors).map(([path, sentence]) => {
    const spec = specs.find((candidate) => candidate.path === path || path.startsWith(`${candidate.path}[`));
    if (!spec) return { href: path.startsWith('limits.roles') ? '#limits' : '', sentence };
    const text = errorAt({ [path]: sentence }, spec) ?? sentence;
    return { href: `#${inputId(spec.path)}`, sentence: text.startsWith('Line ') ? `${spec.label}: ${text}` : text };
  });
}

/**
 * All sections of the editor with the choices that are available now.
 *
 * @param defaults of a new bot; its texts are the placeholders.
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
