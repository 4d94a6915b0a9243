import { readFile } from 'node:fs/promises';
import { RestError, type AdminActionResult, type AdminPageBody, type AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../context.ts';
import { faultsOf } from '../../../settings/invalid-fields.ts';
import { textOf } from '../../../settings/page/form-values.ts';
import { contentOf } from '../content.ts';
import { exportTemplates, importTemplates } from '../templates/template-transfer.ts';
import { enabledParts, partLabels, type Template } from '../templates/template.ts';
import { slugs, tabsOf } from './content-pages.ts';

const template = 'svc/content-templates';
/** Sentences shown about an import; the first ones tell enough. */
const mostFaults = 20;

/** Sets of prompts: those that come with the service, and one's own. */
export function templatesPage(context: ServiceContext): AdminPageBody {
  const { templates } = contentOf(context);
  return {
    render: async () => ({ template, data: await view(context) }),
    actions: {
      delete: async (request) => {
        if (!(await templates.delete(textOf(request, 'id')))) throw gone();
        return { notice: { kind: 'success', text: 'The template is deleted. Batches and texts that were made with it stay.' } };
      },
      export: async (request) => {
        const id = textOf(request, 'id');
        const all = await templates.list();
        const chosen = id === '' ? all.filter(({ builtIn }) => !builtIn) : all.filter((one) => one.id === id);
        if (chosen.length === 0) throw gone();
        const content = `${JSON.stringify(exportTemplates(chosen), null, 2)}\n`;
        return { download: { name: 'content-templates.json', type: 'application/json; charset=utf-8', content: pieces(content) } };
      },
      import: (request) => takeIn(context, request),
    },
  };
}

function gone(): RestError {
  return new RestError({ code: 'rest_svc_template_not_found', status: 404, message: 'There is no such template any more.' });
}

async function view(context: ServiceContext, refused?: readonly string[]): Promise<Record<string, unknown>> {
  const { host } = context;
  const all = await contentOf(context).templates.list();
  const card = (one: Template) => ({
    id: one.id, name: one.name, description: one.description, badge: one.kind === 'rewrite' ? { text: 'rewrites posts', kind: 'info' } : { text: 'writes', kind: 'success' },
    parts: enabledParts(one).map((part) => partLabels[part]).join(', '),
    href: `${host.admin.url(slugs.template)}?${one.builtIn ? 'copy' : 'id'}=${encodeURIComponent(one.id)}`,
    writeHref: one.kind === 'write' ? `${host.admin.url(slugs.write)}?template=${encodeURIComponent(one.id)}` : null,
    fields: { id: one.id },
  });
  return { tabs: tabsOf(host, 'templates'), own: all.filter(({ builtIn }) => !builtIn).map(card), builtIn: all.filter(({ builtIn }) => builtIn).map(card), newHref: host.admin.url(slugs.template), refused };
}

async function* pieces(content: string): AsyncGenerator<string> {
  yield await Promise.resolve(content);
}

/** All templates of a file or none. */
async function takeIn(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const file = request.files?.['file'];
  const refuse = async (faults: readonly string[]): Promise<AdminActionResult> => ({ notice: { kind: 'error', text: 'Nothing was imported.' }, page: { template, data: await view(context, faults.slice(0, mostFaults)) }, status: 400 });
  if (!file) return refuse(['Choose the file of an export.']);
  try {
    const made = await importTemplates(await readFile(file.path, 'utf8'), contentOf(context).templates);
    return { notice: { kind: 'success', text: made.length === 1 ? `${made[0]?.name ?? ''} is imported.` : `${String(made.length)} templates are imported.` }, redirect: slugs.templates };
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return refuse(Object.values(faults));
  }
}
