import { RestError, type AdminActionResult, type AdminPageBody } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { downloadJson, importUpload } from '../../../admin-ui/transfer-actions.ts';
import { contentOf } from '../content.ts';
import { exportTemplates, importTemplates } from '../templates/template-transfer.ts';
import { enabledParts, partLabels, type Template } from '../templates/template.ts';
import { slugs, tabsOf } from './content-pages.ts';

const template = 'svc/content-templates';

/** Sets of prompts: those that come with the service, and one's own. */
export function templatesPage(context: ServiceContext): AdminPageBody {
  const { templates } = contentOf(context);
  return {
    render: async () => ({ template, data: await view(context) }),
    actions: {
      delete: async (request) => {
        if (!(await templates.delete(readText(request, 'id')))) throw gone();
        return {
          notice: { kind: 'success', text: 'The template is deleted. Batches and texts that were made with it stay.' },
        };
      },
      export: async (request) => {
        const id = readText(request, 'id');
        const all = await templates.list();
        const chosen = id === '' ? all.filter(({ builtIn }) => !builtIn) : all.filter((one) => one.id === id);
        if (chosen.length === 0) throw gone();
        return downloadJson('content-templates.json', exportTemplates(chosen));
      },
      import: (request) =>
        importUpload(request, {
          run: (text) => importAll(context, text),
          page: async ({ errors }) => ({ template, data: await view(context, errors) }),
        }),
    },
  };
}

function gone(): RestError {
  return new RestError({
    code: 'rest_svc_template_not_found',
    status: 404,
    message: 'There is no such template any more.',
  });
}

async function view(context: ServiceContext, refused?: readonly string[]): Promise<Record<string, unknown>> {
  const { host } = context;
  const all = await contentOf(context).templates.list();
  const card = (one: Template) => ({
    id: one.id,
    name: one.name,
    description: one.description,
    badge: one.kind === 'rewrite' ? { text: 'rewrites posts', kind: 'info' } : { text: 'writes', kind: 'success' },
    parts: enabledParts(one)
      .map((part) => partLabels[part])
      .join(', '),
    href: `${host.admin.url(slugs.template)}?${one.builtIn ? 'copy' : 'id'}=${encodeURIComponent(one.id)}`,
    writeHref: one.kind === 'write' ? `${host.admin.url(slugs.write)}?template=${encodeURIComponent(one.id)}` : null,
    fields: { id: one.id },
  });
  return {
    tabs: tabsOf(host, 'templates'),
    own: all.filter(({ builtIn }) => !builtIn).map(card),
    builtIn: all.filter(({ builtIn }) => builtIn).map(card),
    newHref: host.admin.url(slugs.template),
    refused,
  };
}

async function importAll(context: ServiceContext, text: string): Promise<AdminActionResult> {
  const made = await importTemplates(text, contentOf(context).templates);
  return {
    notice: {
      kind: 'success',
      text:
        made.length === 1 ? `${made[0]?.name ?? ''} is imported.` : `${String(made.length)} templates are imported.`,
    },
    redirect: slugs.templates,
  };
}
