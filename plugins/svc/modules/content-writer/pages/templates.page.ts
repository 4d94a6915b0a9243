import {
  restError,
  translateText,
  type RestError,
  type AdminActionResult,
  type AdminPageBody,
  withNotice,
} from '#plugin-api';
import type { ContentWriter } from '../content-writer.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { downloadJson, importUpload, type RefusedImport } from '../../../admin-ui/transfer-actions.ts';
import { templateTransfer } from '../templates/template-store.ts';
import { enabledParts, partLabels, type Template } from '../templates/template.ts';
import { slugs, contentTabs } from './content-pages.ts';

const template = 'svc/content-templates';

/** The list of templates: built-in and saved ones. */
export function createPage(writer: ContentWriter): AdminPageBody {
  const { templates } = writer;
  return {
    render: async () => ({ template, data: await view(writer) }),
    actions: {
      delete: async (request) => {
        if (!(await templates.delete(readText(request, 'id')))) throw gone();
        return withNotice('success', 'Template deleted. Batches and texts created with it are kept.');
      },
      export: async (request) => {
        const id = readText(request, 'id');
        const all = await templates.list();
        const chosen = id === '' ? all.filter(({ builtIn }) => !builtIn) : all.filter((one) => one.id === id);
        if (chosen.length === 0) throw gone();
        return downloadJson('content-templates.json', templateTransfer.exportItems(chosen));
      },
      import: (request) =>
        importUpload(request, {
          run: (text) => importAll(writer, text),
          page: async (refused) => ({ template, data: await view(writer, refused) }),
        }),
    },
  };
}

function gone(): RestError {
  return restError(404, 'rest_svc_template_not_found', 'Template not found. It may have been deleted.');
}

async function view(writer: ContentWriter, refused?: RefusedImport): Promise<Record<string, unknown>> {
  const { host } = writer;
  const all = await writer.templates.list();
  const card = (one: Template) => ({
    id: one.id,
    name: one.name,
    description: one.description,
    badge:
      one.kind === 'rewrite' ? { text: 'Rewrites posts', kind: 'info' } : { text: 'Writes texts', kind: 'success' },
    parts: enabledParts(one)
      .map((part) => translateText(partLabels[part]))
      .join(', '),
    href: `${host.admin.url(slugs.template)}?${one.builtIn ? 'copy' : 'id'}=${encodeURIComponent(one.id)}`,
    writeHref: one.kind === 'write' ? `${host.admin.url(slugs.write)}?template=${encodeURIComponent(one.id)}` : null,
    fields: { id: one.id },
  });
  return {
    tabs: contentTabs(host, 'templates'),
    own: all.filter(({ builtIn }) => !builtIn).map(card),
    builtIn: all.filter(({ builtIn }) => builtIn).map(card),
    newHref: host.admin.url(slugs.template),
    refused,
  };
}

async function importAll(writer: ContentWriter, text: string): Promise<AdminActionResult> {
  const made = await templateTransfer.importItems(text, writer.templates);
  return withNotice(
    'success',
    made.length === 1 ? `${made[0]?.name ?? ''} imported.` : `${String(made.length)} templates imported.`,
    { redirect: slugs.templates },
  );
}
