import type { Request, Router } from 'express';
import type { AdminContext } from './dependencies.ts';
import { adminPath, localAdminPath } from './local-path.ts';
import { isSameOrigin, readCookie, readForm, wantsJson } from './request.ts';

const cookieName = 'svc_admin_theme';
const yearSeconds = 31_536_000;
const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const labels: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' };

/** The color scheme that this browser chose. `system` follows the operating system. */
export function readTheme(request: Request): Theme {
  const saved = readCookie(request, cookieName);
  return themes.find((theme) => theme === saved) ?? 'system';
}

/** The choices for the account menu. */
export function themeChoices(current: Theme): { value: Theme; label: string; isCurrent: boolean }[] {
  return themes.map((value) => ({ value, label: labels[value], isCurrent: value === current }));
}

/** `POST /theme` saves the color scheme in a cookie, which changes nothing but looks, and returns to the page. */
export function addThemeRoute(router: Router, context: AdminContext): void {
  router.post('/theme', async (request, response) => {
    if (!isSameOrigin(request))
      return context.errorResponses.refuse({
        request,
        response,
        status: 403,
        text: 'The form was sent from another site. Choose the theme in the account menu.',
      });
    const form = readForm(request);
    const theme = themes.find((known) => known === form['theme']) ?? 'system';
    const age = theme === 'system' ? 0 : yearSeconds;
    const secure = context.site.url.startsWith('https:') ? '; Secure' : '';
    response.append('Set-Cookie', `${cookieName}=${theme}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`);
    if (wantsJson(request)) response.json({ data: { theme } });
    else response.redirect(303, localAdminPath(form['to']) ?? adminPath());
  });
}
