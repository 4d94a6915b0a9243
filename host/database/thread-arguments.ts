/**
 * The arguments of Node for a worker thread whose module may be a plugin's: `#plugin-api` and `#testing` mean there what they mean here.
 */
export const threadArguments = ['--import', new URL('../sources/module-hooks.ts', import.meta.url).href];
