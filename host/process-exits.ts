import type { Logger } from '#plugin-api';
import type { PluginFolders } from './log/plugin-folders.ts';

/**
 * Logs the plugin, with the stack, that ends the process by `process.exit` or `process.abort`; nothing else would name it. While a
 * step of its lifecycle runs, such as `register`, it is an error of the plugin instead.
 */
export function logExitsOfPlugins(
  folders: Pick<PluginFolders, 'findFrame' | 'currentStep'>,
  log: () => Pick<Logger, 'error'>,
): void {
  for (const name of ['exit', 'abort'] as const) {
    const original = process[name] as (code?: number | string | null) => never;
    const logged = (...args: [code?: number | string | null]): never => {
      const error = new Error(`process.${name} was called`);
      if (folders.currentStep() !== null)
        throw new Error(
          `The plugin called process.${name}, which would end the whole process. Throw an error instead.`,
        );
      const frame = folders.findFrame(error.stack ?? '');
      if (frame !== null)
        log().error('A plugin ended the process', {
          event: 'plugin_ended_process',
          plugin: frame.slug,
          next: `Start again without the plugin: PLUGINS=${frame.slug}`,
          error,
        });
      return original.apply(process, args);
    };
    Object.assign(process, { [name]: logged });
  }
}
