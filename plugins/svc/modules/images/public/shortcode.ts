import type { Post, User } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import type { Provider } from '../provider-types.ts';
import { readModel, type VisitorSettings } from './visitor-settings.ts';
import { visitorImagesOf } from './visitors-of.ts';

const numbers = ['1', '2', '3', '4'];

/**
 * `[svc_images]`: a form by which visitors have images drawn, where that was switched on. It works without JavaScript.
 * Where it cannot be shown administrators read why, visitors nothing. Nothing in it is of one visitor alone: caches may keep it.
 */
export function createShortcode(
  context: ServiceContext,
): (post: Post | undefined, viewer: User | undefined) => Promise<string> {
  const { host, providers } = context;
  const { settings, forms } = visitorImagesOf(context);
  return async (post, viewer) => {
    const set = await settings.get();
    if (!set.enabled || set.models.length === 0) {
      return viewer?.can('manage_options')
        ? host.views.render('svc/image-form', { off: true, settingsUrl: host.admin.url('svc/images/visitors') })
        : '';
    }
    const isGuest = (viewer?.id ?? 0) === 0;
    return host.views.render('svc/image-form', {
      action: host.rest.url('/svc-widget/v1/images'),
      token: await forms.issue(),
      back: post === undefined ? '' : new URL(await host.content.permalink(post)).pathname,
      intro: set.texts.intro,
      closed:
        (isGuest ? set.guest_per_day : set.user_per_day) === 0
          ? isGuest
            ? 'Sign in to have images drawn.'
            : 'Images are not drawn for your account.'
          : '',
      consent: set.consent.required ? set.consent.text : '',
      models: several(modelChoices(set, await providers.all())),
      sizes: several(set.sizes.map((size) => ({ value: size, label: size.replace('x', ' × ') }))),
      numbers: several(numbers.slice(0, set.most).map((value) => ({ value, label: value }))),
    });
  };
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Where there is but one, there is nothing to choose. */
function several(choices: readonly Choice[]): readonly Choice[] | null {
  return choices.length > 1 ? choices : null;
}

function modelChoices({ models }: VisitorSettings, providers: readonly Pick<Provider, 'id' | 'label'>[]): Choice[] {
  return models.map((value) => {
    const { provider, model } = readModel(value);
    return { value, label: `${providers.find(({ id }) => id === provider)?.label ?? provider}: ${model}` };
  });
}
