import { lazy, type ShortcodeAttributes, type ShortcodeContext } from '#plugin-api';
import { lazyCommands, lazyPage } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { AiFormParts, AiFormPorts, AiForms } from './ai-forms.ts';
import { formMigrations, formTables } from './forms/form-tables.ts';
import { registerFormRoutes } from './public/register-routes.ts';
import { submissionJob, type SubmissionJobArgs } from './submissions/submission.ts';

const sweepHook = 'svc_ai_forms_sweep';

/** Passes the loaded parts of forms to a page or to commands. */
const withForms =
  <Result>(load: () => Promise<(aiForms: AiForms) => Result>) =>
  async () =>
  async ({ aiForms }: AiFormParts): Promise<Result> =>
    (await load())(await aiForms());

/** Forms whose submissions a model answers: builder, public forms, submissions. */
export const aiFormsModule = defineModule<AiFormPorts, AiFormParts>({
  id: 'ai-forms',
  title: 'AI Forms',
  create: (ports) => ({
    ...ports,
    aiForms: lazy(async () => {
      const aiForms = (await import('./ai-forms.ts')).createAiForms(ports);
      return () => aiForms;
    }),
  }),
  pages: [
    lazyPage({
      slug: 'svc/ai-forms',
      title: 'AI forms',
      menu: 'AI forms',
      group: 'build',
      icon: 'form',
      position: 16,
      style: 'ai-forms.css',
      uploadLimit: 2 * 1_048_576,
      body: withForms(async () => (await import('./pages/forms.page.ts')).formsPage),
    }),
    lazyPage({
      slug: 'svc/ai-forms/edit',
      title: 'Edit form',
      parent: 'svc/ai-forms',
      style: 'ai-forms.css',
      script: 'ai-form-edit.js',
      body: withForms(async () => (await import('./pages/edit.page.ts')).editPage),
    }),
    lazyPage({
      slug: 'svc/ai-forms/submissions',
      title: 'Form submissions',
      parent: 'svc/ai-forms',
      style: 'ai-forms.css',
      body: withForms(async () => (await import('./pages/submissions.page.ts')).submissionsPage),
    }),
  ],
  commands: [lazyCommands(withForms(async () => (await import('./forms/form-commands.ts')).formCommands))],
  migrations: formMigrations,
  tables: Object.values(formTables),
  jobs: [sweepHook],
  register: registerForms,
});

async function registerForms({ host, aiForms }: AiFormParts): Promise<void> {
  registerFormRoutes({ host, aiForms });
  const render = lazy(async () => (await import('./public/shortcode.ts')).createShortcode(await aiForms()));
  host.content.addShortcode(
    'svc_form',
    // eslint-disable-next-line max-params -- WordPress's arguments, in its order
    async (attributes: ShortcodeAttributes, _content, _tag, { post, viewer }: ShortcodeContext) =>
      render(attributes, viewer, post === undefined ? '' : await host.content.permalink(post)),
  );
  host.jobs.define<SubmissionJobArgs>({
    name: submissionJob,
    label: 'Form submissions',
    // Longer than any time limit of text calls.
    timeout: 3_600,
    failed: async (args, job) => (await import('./submit/submit.ts')).failSubmission(await aiForms(), args, job),
  });
  host.hooks.addFilter('svc_personal_data_export', async (records, person) => [
    ...records,
    ...(await (await import('./submissions/personal-data.ts')).exportSubmissions(await aiForms(), person)),
  ]);
  host.hooks.addFilter('svc_personal_data_erase', async (counts, person) => ({
    ...counts,
    form_answers: await (await import('./submissions/personal-data.ts')).eraseSubmissions(await aiForms(), person),
  }));
  host.hooks.addAction('delete_user', async (id: number, heir: number | null) =>
    (await import('./submissions/personal-data.ts')).reassignSubmissions(host, { id, heir }),
  );
  await host.jobs.every('*/5 * * * *', {
    name: sweepHook,
    label: 'Delete old form submissions',
    keep: 3_600,
    run: async () => (await import('./ai-forms.ts')).sweepForms(await aiForms()),
  });
}
