import { formatBytes, type AdminActionResult, type AdminPageBody, withNotice } from '#plugin-api';
import type { Backups } from './backups.ts';
import { readText } from './forms.ts';

/** Creates, lists, downloads and deletes database backups. The command line restores them, also while the site runs. */
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
            sizeText: formatBytes(file.size),
            fields: { name: file.name },
            command: `npm run cli -- db restore ${backups.directory}/${file.name}`,
          })),
        },
      };
    },
    actions: {
      create: async () => {
        const { name, size } = await backups.create();
        return withNotice('success', `Backup ${name} created (${formatBytes(size)}).`);
      },
      download: async (request) => {
        request.requireFreshSignIn();
        const name = readText(request, 'name');
        const content = await backups.read(name);
        // A backup contains all data of the site, so the log records who downloads it.
        if (content !== null)
          request.log.warn('Backup downloaded', { event: 'backup_downloaded', user: request.user.id, name });
        return content === null ? gone : { download: { name, type: 'application/octet-stream', content } };
      },
      delete: async (request) => {
        request.requireFreshSignIn();
        return (await backups.remove(readText(request, 'name'))) ? withNotice('success', 'Backup deleted.') : gone;
      },
    },
  };
}

const gone: AdminActionResult = withNotice('info', 'This backup has already been deleted.');
