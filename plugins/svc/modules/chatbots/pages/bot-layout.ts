import type { FormSection } from '#plugin-api';

const texts = (...names: readonly string[]): readonly string[] => names.map((name) => `texts.${name}`);

const basics: FormSection = {
  id: 'basics',
  title: 'Basics',
  groups: [
    { fields: ['name', 'status'] },
    {
      title: 'Model',
      fields: ['provider', 'model', 'temperature', 'max_completion_tokens', 'max_messages', 'max_prompt_characters'],
    },
    { title: 'Messages', wide: true, fields: ['instructions', 'greeting', 'starters'] },
  ],
};

const knowledge: FormSection = {
  id: 'knowledge',
  title: 'Knowledge',
  help: 'The bot looks up the most relevant passages before it answers.',
  groups: [
    { wide: true, fields: ['knowledge.enabled'] },
    { title: 'Source', wide: true, fields: ['knowledge.base'] },
    {
      title: 'Vector store instead of a knowledge base',
      fields: ['knowledge.store', 'knowledge.target', 'knowledge.namespace'],
    },
    {
      title: 'Embedding',
      help: 'Use the model that embedded the passages. With another model no matches are found.',
      fields: ['knowledge.embedding_provider', 'knowledge.embedding_model'],
    },
    { title: 'Passages', fields: ['knowledge.top_k', 'knowledge.min_score'] },
    { wide: true, fields: ['knowledge.show_sources'] },
  ],
};

const look: FormSection = {
  id: 'look',
  title: 'Look',
  help: 'The preview updates at once. Visitors see changes after you save.',
  groups: [
    {
      title: 'Colors',
      fields: [
        'look.theme',
        'look.primary_color',
        'look.text_color',
        'look.background_color',
        'look.user_bubble_color',
        'look.bot_bubble_color',
      ],
    },
    { title: 'Shape', fields: ['look.size', 'look.corner_radius', 'look.icon', 'look.avatar_url'] },
    {
      title: 'Position',
      fields: ['look.mode', 'look.position', 'look.open_after', 'look.invite_after', 'look.direction'],
    },
    { title: 'Disclosure', wide: true, fields: ['look.disclose_ai'] },
  ],
};

const textsSection: FormSection = {
  id: 'texts',
  title: 'Texts',
  help: 'Write them in the language of your visitors. Leave a label empty to use the built-in one.',
  groups: [
    { title: 'Header and footer', fields: texts('title', 'subtitle', 'invitation', 'footer') },
    { title: 'Writing', fields: texts('placeholder', 'send', 'stop', 'retry', 'typing', 'you') },
    {
      title: 'Answers',
      fields: texts('regenerate', 'copy', 'copied', 'sources', 'good', 'bad', 'comment', 'thanks', 'ai'),
    },
    { title: 'Was it answered?', fields: texts('solved', 'yes', 'no', 'unsolved') },
    {
      title: 'Window',
      fields: texts('open', 'close', 'dismiss', 'new_chat', 'download', 'latest'),
    },
    { title: 'Forms and consent', fields: texts('submit', 'required', 'consent_button') },
    {
      title: 'Limits and errors',
      fields: texts('again', 'offline', 'outage', 'error', 'declined', 'too_long', 'busy', 'unavailable'),
    },
  ],
};

/** The limits are rows besides (`limitRows`), because roles depend on the bot. */
const limits: FormSection = {
  id: 'limits',
  title: 'Limits',
  help: "How much one visitor may use, in the site's time zone; weeks begin on Monday. Leave empty for no limit.",
  groups: [
    { wide: true, fields: ['limits.allow_guests', 'limits.guest_message'] },
    { wide: true, fields: ['limits.message'] },
  ],
};

const safety: FormSection = {
  id: 'safety',
  title: 'Privacy and safety',
  groups: [
    { title: 'Consent', wide: true, fields: ['consent'] },
    { title: 'Storage', wide: true, fields: ['privacy'] },
    { title: 'Moderation', wide: true, fields: ['moderation'] },
    { title: 'Ratings', wide: true, fields: ['feedback', 'ask_solved'] },
  ],
};

const embed: FormSection = {
  id: 'embed',
  title: 'Embedding',
  help: 'Put the chatbot on this site or on any other.',
  groups: [{ wide: true, fields: ['embed'] }],
};

/** The sections of the editor. What their fields show and accept is in the schema of bots. */
export const botLayout: readonly FormSection[] = [basics, knowledge, look, textsSection, limits, safety, embed];
