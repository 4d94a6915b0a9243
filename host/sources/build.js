// @ts-check
import { isRuntimeCurrent } from '../runtime.js';

/* `npm run build [-- folder...]`, and part of every `npm ci`: see `build.ts`. */
if (isRuntimeCurrent()) await import('./build.ts');
