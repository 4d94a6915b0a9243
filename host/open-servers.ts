import { Server } from 'node:net';
import type { PluginFolders } from './log/plugin-folders.ts';

export interface OpenServers {
  /** Addresses, such as `127.0.0.1:5349`, on which servers of the plugin still listen. */
  of(slug: string): string[];
}

/**
 * Remembers which plugin listens on which port. A server that fails without a listener for its error, for example since the port
 * is in use, is reported instead of ending the process: its stack does not show the plugin.
 */
export function watchServers(
  folders: Pick<PluginFolders, 'findFrame'>,
  report: (slug: string, error: unknown) => void,
): OpenServers {
  const bySlug = new Map<string, Set<Server>>();
  const listen = Server.prototype.listen as (...args: unknown[]) => Server;
  const watched = function (this: Server, ...args: unknown[]): Server {
    const slug = folders.findFrame(new Error('Listening').stack ?? '')?.slug;
    if (slug !== undefined) {
      const servers = bySlug.get(slug) ?? new Set();
      bySlug.set(slug, servers.add(this));
      this.once('close', () => servers.delete(this));
      this.on('error', (error) => {
        if (this.listenerCount('error') === 1) report(slug, error);
      });
    }
    return listen.apply(this, args);
  };
  Object.assign(Server.prototype, { listen: watched });
  return {
    of: (slug) =>
      [...(bySlug.get(slug) ?? [])].flatMap((server) => {
        const address = server.listening ? server.address() : null;
        if (address === null) return [];
        return typeof address === 'string' ? address : `${address.address}:${address.port}`;
      }),
  };
}
