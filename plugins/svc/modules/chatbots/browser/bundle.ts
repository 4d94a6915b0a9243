import { createClientBundle } from '#plugin-api';
import { fileURLToPath } from 'node:url';

const source = (file: string): string => fileURLToPath(new URL(`./client/${file}`, import.meta.url));

/** Script and styles of the widget, made of `client/`. */
export const widgetBundle = createClientBundle({ script: source('main.ts'), styles: source('widget.css') });
