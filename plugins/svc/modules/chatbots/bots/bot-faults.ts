import { isUrl } from '#plugin-api';
import { isIP } from 'node:net';
import type { BotForm } from '../forms/form.ts';
import type { BotSettings } from './bot.ts';
import { readAllowedDomain } from '../../../kit/visitors/allowed-domain.ts';
import type { Faults } from '../../../kit/settings-schema/check-shape.ts';

/** What bots may name, at this moment. */
export interface KnownNames {
  /** Ids of providers that generate text. */
  readonly textProviders: readonly string[];
  readonly embeddingProviders: readonly string[];
  readonly vectorStores: readonly string[];
  /** Ids. */
  readonly knowledgeBases: readonly number[];
}

/**
 * What is wrong with settings whose members are right one by one.
 *
 * @param before what a change began with: a provider or store that is gone since it was saved is no fault of a change to something else
 */
export function settingsFaults(settings: BotSettings, known: KnownNames, before: BotSettings | null): Faults {
  return {
    ...providerFaults(settings, known, before),
    ...knowledgeFaults(settings, known, before),
    ...listFaults('embed.allowed_domains', settings.embed.allowed_domains, (domain) => (readAllowedDomain(domain) ? null : 'must be a domain such as example.com, https://shop.example.com:8443 or *.example.com')),
    ...listFaults('moderation.banned_addresses', settings.moderation.banned_addresses, (address) => (isAddressOrRange(address) ? null : 'must be an IP address or a range such as 203.0.113.0/24')),
    ...listFaults('moderation.banned_words', settings.moderation.banned_words, (word) => (word.trim() === '' ? 'must not be blank' : null)),
    ...pictureFaults(settings),
    ...formFaults(settings.forms),
    ...ruleFaults(settings),
  };
}

function providerFaults({ provider }: BotSettings, { textProviders }: KnownNames, before: BotSettings | null): Faults {
  if (textProviders.includes(provider) || before?.provider === provider) return {};
  return { provider: `provider must be one of ${textProviders.join(', ')}.` };
}

function knowledgeFaults({ knowledge }: BotSettings, { vectorStores, embeddingProviders, knowledgeBases }: KnownNames, before: BotSettings | null): Faults {
  if (!knowledge.enabled) return {};
  const faults: Faults = {};
  if (knowledge.base !== 0) {
    const isKnown = knowledgeBases.includes(knowledge.base) || (before?.knowledge.enabled === true && before.knowledge.base === knowledge.base);
    return isKnown ? {} : { 'knowledge.base': 'knowledge.base must be the id of a knowledge base, or 0 for a vector store of its own.' };
  }
  const oneOf = (name: 'store' | 'embedding_provider', ids: readonly string[]): void => {
    if (ids.includes(knowledge[name]) || (before?.knowledge.enabled && before.knowledge[name] === knowledge[name])) return;
    faults[`knowledge.${name}`] = `knowledge.${name} must be one of ${ids.join(', ')} while knowledge is on.`;
  };
  oneOf('store', vectorStores);
  oneOf('embedding_provider', embeddingProviders);
  for (const name of ['target', 'embedding_model'] as const) {
    if (knowledge[name].trim() === '') faults[`knowledge.${name}`] = `knowledge.${name} must not be empty while knowledge is on.`;
  }
  return faults;
}

function pictureFaults({ look: { avatar_url: address } }: BotSettings): Faults {
  if (address === '' || /^\/(?![/\\])[^\s"'<>\\]*$/.test(address)) return {};
  const url = /^https?:\/\/[^\s"'<>\\]+$/i.test(address) && isUrl(address) ? new URL(address) : null;
  if (url !== null && url.username === '' && url.password === '') return {};
  return { 'look.avatar_url': 'look.avatar_url must be an http or https address, or a path of this site such as /uploads/picture.png.' };
}

function formFaults(forms: readonly BotForm[]): Faults {
  const faults: Faults = repeated('forms', forms.map(({ id }) => id));
  forms.forEach(({ elements }, at) => {
    const path = `forms[${String(at)}].elements`;
    Object.assign(faults, repeated(path, elements.map(({ id }) => id)));
    elements.forEach(({ type, options }, place) => {
      const here = `${path}[${String(place)}].options`;
      if (['select', 'radio', 'checkbox'].includes(type) && options.length === 0) faults[here] = `${here} must hold at least one option.`;
      Object.assign(faults, repeated(here, options.map(({ value }) => value), 'value'));
    });
  });
  return faults;
}

function ruleFaults({ rules, forms }: BotSettings): Faults {
  const faults: Faults = repeated('rules', rules.map(({ id }) => id));
  rules.forEach(({ action }, at) => {
    if (action.type !== 'display_form' || forms.some(({ id }) => id === action.form_id)) return;
    const path = `rules[${String(at)}].action.form_id`;
    faults[path] = `${path} names no form of this chatbot.`;
  });
  return faults;
}

/** A fault for each that was there before in the list. */
function repeated(path: string, values: readonly string[], member = 'id'): Faults {
  const faults: Faults = {};
  values.forEach((value, at) => {
    if (values.indexOf(value) === at) return;
    const here = `${path}[${String(at)}].${member}`;
    faults[here] = `${here} is the same as that of ${path}[${String(values.indexOf(value))}].`;
  });
  return faults;
}

function listFaults(path: string, values: readonly string[], faultOf: (value: string) => string | null): Faults {
  return Object.fromEntries(
    values.flatMap((value, at) => {
      const fault = faultOf(value);
      return fault === null ? [] : [[`${path}[${String(at)}]`, `${path}[${String(at)}] ${fault}.`]];
    }),
  );
}

function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...more] = text.trim().split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0 || address.includes('%')) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}
