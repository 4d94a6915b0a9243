import type { AdminActionResult, AdminPageBody } from '#plugin-api';
import type { Backups } from './backups.ts';
import { success, textOf } from './forms.ts';

/** Makes backups of the database, lists, hands out and deletes them. They are put back on the command line, with the site stopped or not. */
export function createBackupPage(backups: Backups): AdminPageBody {
  return {
    render: async () => {
      const files = await backups.list();
      return {
        template: 'admin/pages/backup',
        data: {
          directory: backups.directory,
          files: files.map((file) => ({
            ...file,
            sizeText: sizeText(file.size),
            fields: { name: file.name },
            command: `npm run cli -- db restore ${backups.directory}/${file.name}`,
          })),
        },
      };
    },
    actions: {
      make: async () => {
        const { name, size } = await backups.make();
        return success(`The backup ${name} is made (${sizeText(size)}).`);
      },
      download: async (request) => {
        const name = textOf(request, 'name');
        const content = await backups.read(name);
        // Everything of the site is in it: who took it with them should be known.
        if (content !== null) request.log.warn('A backup was downloaded.', { user: request.user.id, name });
        return content === null ? gone : { download: { name, type: 'application/octet-stream', content } };
      },
      delete: async (request) =>
        (await backups.remove(textOf(request, 'name'))) ? success('The backup is deleted.') : gone,
    },
  };
}

const gone: AdminActionResult = { notice: { kind: 'info', text: 'That backup is gone already.' } };

function sizeText(bytes: number): string {
  if (bytes < 1_024 * 1_024) return `${Math.max(1, Math.round(bytes / 1_024))} KB`;
  return `${(bytes / 1_024 / 1_024).toFixed(1)} MB`;
}
