import { lazy, type ShortcodeAttributes, type User } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { registerWidgetRoutes } from './register-routes.ts';

/** The hourly event that forgets what the widget need not know any more. */
export const widgetSweepHook = 'svc_widget_sweep';

/** Routes, shortcode and sweep of the widget. What they do is loaded when it is first needed. */
export async function registerWidget(parts: ChatbotParts): Promise<void> {
  const { host } = parts;
  registerWidgetRoutes(parts);
  const render = lazy(async () => (await import('./shortcode.ts')).createShortcode(parts));
  host.content.addShortcode(
    'svc_chatbot',
    // eslint-disable-next-line max-params -- WordPress's arguments, in its order
    (attributes: ShortcodeAttributes, _content, _tag, { viewer }: { readonly viewer?: User }) =>
      render(attributes, viewer),
  );
  host.hooks.addAction(widgetSweepHook, async () => {
    const { limits, leases, acts } = await parts.widget();
    await leases.sweep();
    await limits.sweep();
    await acts.sweep();
  });
  await host.cron.schedule('hourly', widgetSweepHook);
}
