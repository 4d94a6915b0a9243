import { createClientBundle } from '#plugin-api';
import { fileURLToPath } from 'node:url';

const source = (file: string): string => fileURLToPath(new URL(`./client/${file}`, import.meta.url));

/** Script and styles of the post editor, built from `client/`. */
export const editorBundle = createClientBundle({ script: source('main.ts'), styles: source('editor.css') });
