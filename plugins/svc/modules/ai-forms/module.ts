import { lazy, type ShortcodeAttributes, type ShortcodeContext } from '#plugin-api';
import type { ServiceContext } from '../../wiring.ts';
import { lazyCommands, lazyPage } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import { formsMigration, formTables } from './forms/form-tables.ts';
import { registerFormRoutes } from './public/register-routes.ts';

/** Every five minutes: tries whose node is gone are given up, old submissions go. */
export const formSweepHook = 'svc_ai_forms_sweep';

/** Forms whose submissions a model answers: builder, public forms, submissions. */
export const aiFormsModule = defineModule<ServiceContext>({
  id: 'ai-forms',
  title: 'AI Forms',
  pages: [
    lazyPage({
      slug: 'svc/ai-forms',
      title: 'AI forms',
      menu: 'AI forms',
      parent: 'svc',
      icon: 'list',
      position: 16,
      style: 'ai-forms.css',
      uploadLimit: 2 * 1_048_576,
      body: async () => (await import('./pages/forms.page.ts')).formsPage,
    }),
    lazyPage({
      slug: 'svc/ai-forms/edit',
      title: 'Edit form',
      parent: 'svc/ai-forms',
      style: 'ai-forms.css',
      script: 'ai-form-edit.js',
      body: async () => (await import('./pages/edit.page.ts')).editPage,
    }),
    lazyPage({
      slug: 'svc/ai-forms/submissions',
      title: 'Submissions of forms',
      parent: 'svc/ai-forms',
      style: 'ai-forms.css',
      body: async () => (await import('./pages/submissions.page.ts')).submissionsPage,
    }),
  ],
  commands: [lazyCommands(async () => (await import('./forms/form-commands.ts')).formCommands)],
  migrations: [formsMigration],
  register: async (context) => {
    const { host } = context;
    registerFormRoutes(context);
    const render = lazy(async () => (await import('./public/shortcode.ts')).createShortcode(context));
    host.content.addShortcode(
      'svc_form',
      // eslint-disable-next-line max-params -- WordPress's arguments, in its order
      async (attributes: ShortcodeAttributes, _content, _tag, { post, viewer }: ShortcodeContext) =>
        render(attributes, viewer, post === undefined ? '' : await host.content.permalink(post)),
    );
    host.hooks.addAction(formSweepHook, async () => (await import('./submissions/retention.ts')).sweepForms(context));
    host.hooks.addFilter('svc_personal_data_export', async (records, person) => [
      ...records,
      ...(await (await import('./submissions/personal-data.ts')).recordsOf(context, person)),
    ]);
    host.hooks.addFilter('svc_personal_data_erase', async (counts, person) => ({
      ...counts,
      form_answers: await (await import('./submissions/personal-data.ts')).erase(context, person),
    }));
    host.hooks.addAction('delete_user', async (id: number, heir: number | null) =>
      (await import('./submissions/personal-data.ts')).forgetUser(context, { id, heir }),
    );
    await host.cron.schedule('*/5 * * * *', formSweepHook);
  },
});

/** Removed when the plugin is uninstalled. */
export const aiFormTables: readonly string[] = Object.values(formTables);

/** Cron jobs, for uninstalling. */
export const aiFormJobs: readonly string[] = [formSweepHook];
