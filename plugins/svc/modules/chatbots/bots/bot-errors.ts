import { isUrl } from '#plugin-api';
import { isIP } from 'node:net';
import { nameErrors, type KnownNames } from '../../../kit/assistants/known-names.ts';
import type { SettingErrors } from '../../../kit/field-errors.ts';
import { listErrors, duplicateErrors } from '../../../kit/field-errors.ts';
import { domainErrors } from '../../../kit/visitors/allowed-domain.ts';
import type { BotForm, FormElement } from '../forms/form.ts';
import { urlError } from '../rules/call-url.ts';
import { patternError, patternLines } from '../rules/match-pattern.ts';
import type { BotSettings } from './bot.ts';

/**
 * Checks what the schema cannot: names, domains, pictures, and references between forms and rules.
 *
 * @param before The saved settings: a provider or store that is saved and no longer exists is not an error.
 */
export function findSettingsErrors(
  settings: BotSettings,
  known: KnownNames,
  before: BotSettings | null,
): SettingErrors {
  return {
    ...nameErrors(settings, known, before),
    ...domainErrors(settings.embed),
    ...listErrors('moderation.banned_addresses', settings.moderation.banned_addresses, (address) =>
      isAddressOrRange(address) ? null : 'must be an IP address or a range such as 203.0.113.0/24',
    ),
    ...listErrors('moderation.banned_words', settings.moderation.banned_words, (word) =>
      word.trim() === '' ? 'must not be blank' : null,
    ),
    ...findPictureErrors(settings),
    ...findFormErrors(settings.forms),
    ...findRuleErrors(settings),
  };
}

function findPictureErrors({ look: { avatar_url: address } }: BotSettings): SettingErrors {
  if (address === '' || /^\/(?![/\\])[^\s"'<>\\]*$/.test(address)) return {};
  const url = /^https?:\/\/[^\s"'<>\\]+$/i.test(address) && isUrl(address) ? new URL(address) : null;
  if (url !== null && url.username === '' && url.password === '') return {};
  return {
    'look.avatar_url':
      'look.avatar_url must be an http or https address, or a path of this site such as /uploads/picture.png.',
  };
}

function findFormErrors(forms: readonly BotForm[]): SettingErrors {
  const errors: SettingErrors = duplicateErrors(
    'forms',
    forms.map(({ id }) => id),
  );
  forms.forEach(({ elements }, at) => {
    const path = `forms[${String(at)}].elements`;
    Object.assign(
      errors,
      duplicateErrors(
        path,
        elements.map(({ id }) => id),
      ),
    );
    elements.forEach(({ type, options, required, source }, index) => {
      Object.assign(errors, hiddenErrors(`${path}[${String(index)}]`, { type, required, source }));
      const here = `${path}[${String(index)}].options`;
      if (['select', 'radio', 'checkbox'].includes(type) && options.length === 0)
        errors[here] = `${here} must hold at least one option.`;
      Object.assign(
        errors,
        duplicateErrors(
          here,
          options.map(({ value }) => value),
          'value',
        ),
      );
    });
  });
  return errors;
}

function hiddenErrors(
  path: string,
  { type, required, source }: Pick<FormElement, 'type' | 'required' | 'source'>,
): SettingErrors {
  if (type !== 'hidden')
    return source === '' ? {} : { [`${path}.source`]: `${path}.source is only for fields of type hidden.` };
  return {
    ...(source === '' && { [`${path}.source`]: `${path}.source must name what fills the field.` }),
    ...(required && {
      [`${path}.required`]: `${path}.required must be false, because visitors cannot fill hidden fields.`,
    }),
  };
}

function findRuleErrors({ rules, forms }: BotSettings): SettingErrors {
  const errors: SettingErrors = duplicateErrors(
    'rules',
    rules.map(({ id }) => id),
  );
  rules.forEach(({ action, conditions }, at) => {
    conditions.forEach(({ operator, value }, index) => {
      const path = `rules[${String(at)}].conditions[${String(index)}].value`;
      if (operator === 'matches') Object.assign(errors, patternErrors(path, value));
    });
    const wrongUrl = action.type === 'call_url' ? urlError(action.url) : null;
    if (wrongUrl !== null) errors[`rules[${String(at)}].action.url`] = `rules[${String(at)}].action.url ${wrongUrl}.`;
    if (action.type !== 'display_form' || forms.some(({ id }) => id === action.form_id)) return;
    const path = `rules[${String(at)}].action.form_id`;
    errors[path] = `${path} does not name a form of this chatbot.`;
  });
  return errors;
}

function patternErrors(path: string, value: string): SettingErrors {
  const patterns = patternLines(value);
  if (patterns.length === 0) return { [path]: `${path} must hold a pattern.` };
  const wrong = patterns.map(patternError).find((reason) => reason !== null);
  return wrong === undefined ? {} : { [path]: `${path} ${wrong}.` };
}

function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...more] = text.trim().split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0 || address.includes('%')) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}
