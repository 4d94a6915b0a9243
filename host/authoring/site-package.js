// @ts-check
import { isRuntimeCurrent } from '../runtime.js';

/* `npm pack` runs this first: see `site-package.ts`. */
if (isRuntimeCurrent()) await import('./site-package.ts');
