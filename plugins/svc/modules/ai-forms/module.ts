import { lazy, type ShortcodeAttributes, type ShortcodeContext } from '#plugin-api';
import { loadedCommands, loadedPages, loadParts } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { AiFormParts, AiFormPorts, AiForms } from './ai-forms.ts';
import { formMigrations, formTables } from './forms/form-tables.ts';
import { registerFormRoutes } from './public/register-routes.ts';
import { submissionJob, type SubmissionJobArgs } from './submissions/submission.ts';

const sweepHook = 'svc_ai_forms_sweep';

/** Forms whose submissions a model answers: builder, public forms, submissions. */
export const aiFormsModule = defineModule<AiFormPorts, AiFormParts>({
  create: loadParts(async () => (await import('./ai-forms.ts')).createAiForms),
  pages: loadedPages<AiForms>({
    slug: 'svc/ai-forms',
    title: 'AI forms',
    group: 'build',
    icon: 'form',
    position: 16,
    style: 'ai-forms.css',
    uploadLimit: 2 * 1_048_576,
    body: () => import('./pages/forms.page.ts'),
    subpages: [
      {
        slug: 'svc/ai-forms/edit',
        title: 'Edit form',
        script: 'ai-form-edit.js',
        body: () => import('./pages/edit.page.ts'),
      },
      {
        slug: 'svc/ai-forms/submissions',
        title: 'Form submissions',
        body: async () => ({ createPage: (await import('./pages/submission-pages.ts')).submissionsPage }),
      },
      {
        slug: 'svc/ai-forms/submission',
        title: 'Form submission',
        body: async () => ({ createPage: (await import('./pages/submission-pages.ts')).submissionPage }),
      },
    ],
  }),
  commands: [loadedCommands(async () => (await import('./forms/form-commands.ts')).formCommands)],
  migrations: formMigrations,
  tables: Object.values(formTables),
  jobs: [sweepHook],
  register: registerForms,
});

async function registerForms({ host, load }: AiFormParts): Promise<void> {
  registerFormRoutes({ host, load });
  const render = lazy(async () => (await import('./public/shortcode.ts')).createShortcode(await load()));
  host.content.addShortcode(
    'svc_form',
    // eslint-disable-next-line max-params -- WordPress's arguments, in its order
    async (attributes: ShortcodeAttributes, _content, _tag, context: ShortcodeContext) =>
      render(attributes, context, context.post === undefined ? '' : await host.content.permalink(context.post)),
  );
  host.jobs.define<SubmissionJobArgs>({
    name: submissionJob,
    label: 'Form submissions',
    // Longer than any time limit of text calls.
    timeout: 3_600,
    failed: async (args, job) => (await import('./submit/submit.ts')).failSubmission(await load(), args, job),
  });
  host.hooks.addFilter('svc_personal_data_export', async (records, person) => [
    ...records,
    ...(await (await import('./submissions/personal-data.ts')).exportSubmissions(await load(), person)),
  ]);
  host.hooks.addFilter('svc_personal_data_erase', async (counts, person) => ({
    ...counts,
    form_answers: await (await import('./submissions/personal-data.ts')).eraseSubmissions(await load(), person),
  }));
  host.hooks.addAction('delete_user', async (id: number, heir: number | null) =>
    (await import('./submissions/personal-data.ts')).reassignSubmissions(host, { id, heir }),
  );
  await host.jobs.every('*/5 * * * *', {
    name: sweepHook,
    label: 'Delete old form submissions',
    keep: 3_600,
    run: async () => (await import('./ai-forms.ts')).sweepForms(await load()),
  });
}
