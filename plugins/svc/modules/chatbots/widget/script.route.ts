import type { HostApi } from '#plugin-api';
import { registerClientFiles } from '../../../kit/client-file-route.ts';
import { widgetNamespace } from './protocol.ts';

/** `GET /widget.js` and `GET /widget.css`. */
export function registerScriptRoutes({ host }: { readonly host: Pick<HostApi, 'rest' | 'log'> }): void {
  registerClientFiles(host, {
    namespace: widgetNamespace,
    name: 'widget',
    of: 'the widget of chatbots',
    bundle: async () => (await import('../browser/bundle.ts')).widgetBundle(),
  });
}
