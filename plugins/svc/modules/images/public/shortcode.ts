import type { Images, Provider } from '../images.ts';
import type { Post, User } from '#plugin-api';
import { disclosureLine } from './disclosure.ts';
import { builtInConsent, readModel, type VisitorSettings } from './visitor-settings.ts';

const numbers = ['1', '2', '3', '4'];

/**
 * `[svc_images]`: a form for visitors that works without JavaScript. When it is off, only administrators see a notice. The
 * output is the same for all visitors, so that caches may store it.
 */
export function createShortcode(parts: Images): (post: Post | undefined, viewer: User | undefined) => Promise<string> {
  const { host, providers, visitorSettings, formTokens } = parts;
  return async (post, viewer) => {
    const set = await visitorSettings.get();
    if (!set.enabled || set.models.length === 0) {
      return viewer?.can('manage_options')
        ? host.views.render('svc/image-form', { off: true, settingsUrl: host.admin.url('svc/images/visitors') })
        : '';
    }
    const isGuest = (viewer?.id ?? 0) === 0;
    return host.views.render('svc/image-form', {
      action: host.rest.url('/svc-widget/v1/images'),
      token: await formTokens.issue(),
      back: post === undefined ? '' : new URL(await host.content.permalink(post)).pathname,
      intro: set.texts.intro,
      disclosure: await disclosureLine({ host, settings: async () => visitorSettings }),
      closed:
        (isGuest ? set.guest_per_day : set.user_per_day) === 0
          ? isGuest
            ? 'Sign in to generate images.'
            : 'Your account cannot generate images.'
          : '',
      consent: set.consent.required ? consentText(parts, set) : '',
      models: choicesOrNull(modelChoices(set, providers.all())),
      sizes: choicesOrNull(set.sizes.map((size) => ({ value: size, label: size.replace('x', ' × ') }))),
      numbers: choicesOrNull(numbers.slice(0, set.most).map((value) => ({ value, label: value }))),
    });
  };
}

function consentText({ host }: Pick<Images, 'host'>, { consent }: Pick<VisitorSettings, 'consent'>): string {
  return consent.text === builtInConsent ? host.i18n.__(builtInConsent) : consent.text;
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Null: a single choice needs no field. */
function choicesOrNull(choices: readonly Choice[]): readonly Choice[] | null {
  return choices.length > 1 ? choices : null;
}

function modelChoices({ models }: VisitorSettings, providers: readonly Pick<Provider, 'id' | 'label'>[]): Choice[] {
  return models.map((value) => {
    const { provider, model } = readModel(value);
    return { value, label: `${providers.find(({ id }) => id === provider)?.label ?? provider}: ${model}` };
  });
}
