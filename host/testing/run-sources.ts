import { register } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { CompilePlugin } from '../loader/loader.ts';

const root = new URL('../../', import.meta.url);
const outside = new Set<string>();

/**
 * Lets a process that runs the sources of the host load plugins of other folders: `#plugin-api` and `#testing` are the modules
 * of this process, so that both share their classes, and the plugin's files are modules without a package.json too.
 */
export const runSources: CompilePlugin = ({ directory }) => {
  if (!directory.startsWith(fileURLToPath(root)) && !outside.has(directory)) {
    outside.add(directory);
    // Not compiled with the host: only the loader thread of Node reads it.
    register(new URL('host/testing/module-hooks.js', root), {
      data: {
        folder: `${pathToFileURL(directory).href}/`,
        pluginApi: new URL('host/plugin-api/index.ts', root).href,
        testing: new URL('host/testing/index.ts', root).href,
      },
    });
  }
  return Promise.resolve(null);
};
