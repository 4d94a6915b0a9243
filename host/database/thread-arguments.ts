/**
 * The arguments of Node that make a worker thread load TypeScript, where the host itself is not compiled. The loader's own
 * `--import` does nothing in threads.
 */
export function threadArguments(module: URL): string[] {
  if (!module.href.endsWith('.ts')) return ['--enable-source-maps'];
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  return ['--import', `data:text/javascript,${encodeURIComponent(`import{register}from${loader};register()`)}`];
}
