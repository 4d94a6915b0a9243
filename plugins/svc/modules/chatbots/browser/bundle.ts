import { createClientBundle } from '#plugin-api';
import { fileURLToPath } from 'node:url';
import { lexerOnly } from '../../../kit/lexer-only.ts';

const source = (file: string): string => fileURLToPath(new URL(`./client/${file}`, import.meta.url));

/** Script and styles of the window, loaded when it is opened. */
export const chatBundle = createClientBundle({
  script: source('chat-main.ts'),
  styles: source('chat.css'),
  edits: [lexerOnly],
});

/** Script and styles that a page loads: the element and its button. The window that it loads is of the same version. */
export const widgetBundle = createClientBundle({
  script: source('main.ts'),
  styles: source('widget.css'),
  versions: { chatVersion: chatBundle },
});
