import { createClientBundle } from '#plugin-api';
import { fileURLToPath } from 'node:url';
import { lexerOnly } from '../../../kit/lexer-only.ts';

const source = (file: string): string => fileURLToPath(new URL(`./client/${file}`, import.meta.url));

/** Script and styles of forms, built from `client/`. */
export const formBundle = createClientBundle({
  script: source('main.ts'),
  styles: source('form.css'),
  edits: [lexerOnly],
});
