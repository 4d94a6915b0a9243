import type { PlainHandler } from '../media/serve-uploads.ts';
import type { PublicSiteDependencies } from './site-page.ts';
import type { Theme, ThemeDependencies } from './theme.ts';

/** The public site, loaded on the first request, so that worker nodes do not load it. */
export function createLazySite(given: PublicSiteDependencies): PlainHandler {
  let site: Promise<PlainHandler> | undefined;
  return (request, response, next) => {
    site ??= import('./public-site.ts').then(({ createPublicSite }) => createPublicSite(given));
    site.then((handle) => handle(request, response, next)).catch(next);
  };
}

/** The layout hooks, loaded with the first page. */
export function createLazyTheme(given: ThemeDependencies): Theme {
  let theme: Promise<Theme> | undefined;
  return async (page) => (await (theme ??= import('./theme.ts').then(({ createTheme }) => createTheme(given))))(page);
}
