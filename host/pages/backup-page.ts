import type { AdminPage } from '#plugin-api';
import type { Backups } from './backups.ts';
import { success, textOf } from './forms.ts';

/** Makes backups of the database, lists and deletes them. They are put back on the command line, with the site stopped or not. */
export function createBackupPage(backups: Backups): AdminPage {
  return {
    slug: 'tools/backup',
    style: 'admin/pages.css',
    title: 'Backup',
    menu: 'Backup',
    parent: 'tools',
    icon: 'database',
    position: 93,
    render: async () => {
      const files = await backups.list();
      return { template: 'admin/pages/backup', data: { directory: backups.directory, files: files.map((file) => ({ ...file, sizeText: sizeText(file.size), fields: { name: file.name }, command: `npm run cli -- db restore ${backups.directory}/${file.name}` })) } };
    },
    actions: {
      make: async () => {
        const { name, size } = await backups.make();
        return success(`The backup ${name} is made (${sizeText(size)}).`);
      },
      delete: async (request) => ((await backups.remove(textOf(request, 'name'))) ? success('The backup is deleted.') : { notice: { kind: 'info', text: 'That backup is gone already.' } }),
    },
  };
}

function sizeText(bytes: number): string {
  if (bytes < 1_024 * 1_024) return `${Math.max(1, Math.round(bytes / 1_024))} KB`;
  return `${(bytes / 1_024 / 1_024).toFixed(1)} MB`;
}
