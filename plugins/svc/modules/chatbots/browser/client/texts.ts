import type { BotTexts } from '../../bots/bot.ts';
import { buttonLabels } from './button-labels.ts';

/** Labels that must not be empty. Other texts (title, subtitle, footer) are hidden when empty. */
const labels: Partial<BotTexts> = {
  ...buttonLabels,
  placeholder: 'Write a message…',
  send: 'Send',
  stop: 'Stop',
  retry: 'Try again',
  regenerate: 'New answer',
  copy: 'Copy',
  copied: 'Copied',
  new_chat: 'New chat',
  download: 'Download transcript',
  good: 'Good answer',
  bad: 'Bad answer',
  comment: 'What could be better?',
  thanks: 'Thank you for your feedback.',
  sources: 'Sources',
  solved: 'Was your question answered?',
  yes: 'Yes',
  no: 'No',
  unsolved: 'What is still missing?',
  ai: 'AI assistant',
  typing: 'Writing an answer…',
  you: 'You',
  latest: 'Newest messages',
  again: 'You can write again on {time}.',
  offline: 'You are offline. Your message is sent when the connection is back.',
  outage: 'The chat is unavailable. Your message is kept. Try again in a few seconds.',
  consent_button: 'Agree and start',
  submit: 'Submit',
  required: 'Please fill in this field.',
};

/** The bot's texts, with built-in labels for empty ones. */
export function withDefaults(texts: Partial<BotTexts>, name: string): BotTexts {
  const filled: Record<string, string> = { title: name, subtitle: '', footer: '', invitation: '', ...labels };
  for (const [key, text] of Object.entries(texts)) if (text) filled[key] = text;
  return filled as unknown as BotTexts;
}
