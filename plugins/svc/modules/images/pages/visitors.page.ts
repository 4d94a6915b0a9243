import type { Images } from '../images.ts';
import { fieldErrorsOf, formSections, readForm, withNotice } from '#plugin-api';
import type { AdminPageBody, FieldErrors, FormSection } from '#plugin-api';
import { visitorSchema } from '../public/visitor-settings.ts';
import { providerChoices } from './job-form.ts';

const template = 'svc/images-visitors';

const sections: readonly FormSection[] = [
  { id: 'visitors-0', title: 'Models and sizes', groups: [{ fields: ['enabled', 'models', 'sizes', 'most'] }] },
  { id: 'visitors-1', title: 'Limits', groups: [{ fields: ['guest_per_day', 'user_per_day'] }] },
  { id: 'visitors-2', title: 'Rules', groups: [{ fields: ['consent', 'banned_words'] }] },
  { id: 'visitors-3', title: 'Texts', groups: [{ fields: ['texts'] }] },
];

/** The settings of `[svc_images]`. Off by default. */
export function visitorsPage(parts: Images): AdminPageBody {
  const { visitorSettings } = parts;
  return {
    render: async () => ({ template, data: await view(parts, { ...(await visitorSettings.get()) }) }),
    actions: {
      save: async (request) => {
        const typed = readForm(visitorSchema, request.form);
        try {
          const { enabled } = await visitorSettings.update(typed);
          return withNotice(
            'success',
            enabled
              ? 'Settings saved. Add [svc_images] to a page to offer it there.'
              : 'Settings saved. Images for visitors are off.',
          );
        } catch (error) {
          const errors = fieldErrorsOf(error);
          if (errors === null) throw error;
          return withNotice('error', 'Nothing was saved. Correct the marked fields.', {
            page: { template, data: await view(parts, typed, errors) },
          });
        }
      },
    },
  };
}

async function view(parts: Images, draft: object, errors: FieldErrors = {}): Promise<Record<string, unknown>> {
  const providers = await providerChoices(parts, 'generate');
  const known = providers.flatMap(({ value, defaultModel, isReady }) =>
    isReady && defaultModel !== '' ? [`${value}:${defaultModel}`] : [],
  );
  return {
    sections: formSections(visitorSchema, sections, { values: draft, errors, id: 'bot' }),
    isOn: (draft as { readonly enabled?: unknown }).enabled === true,
    known,
  };
}
