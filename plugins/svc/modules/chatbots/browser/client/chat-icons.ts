import { drawIcon } from './icons.ts';

/** Icons of the window, drawn like those of the button. */
const paths = {
  close: 'M6 6l12 12M18 6L6 18',
  minimize: 'M6 9l6 6 6-6',
  send: 'M12 19V5M5.5 11.5L12 5l6.5 6.5',
  stop: 'M8 8h8v8H8z',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  up: 'M7 11v9H4v-9zM7 11l4-7.5a2 2 0 0 1 2.5 2.4L12.8 10H18a2 2 0 0 1 2 2.3l-1.2 6a2 2 0 0 1-2 1.7H7',
  down: 'M7 13V4H4v9zM7 13l4 7.5a2 2 0 0 0 2.5-2.4L12.8 14H18a2 2 0 0 0 2-2.3l-1.2-6a2 2 0 0 0-2-1.7H7',
  again: 'M20 11a8 8 0 1 0-2.3 6.7M20 5v6h-6',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  edit: 'M12 20h8M4 20l1-4L16 5a2 2 0 0 1 3 3L8 19z',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  offline: 'M3 3l18 18M8.5 16a5 5 0 0 1 7 0M5 12.5a10 10 0 0 1 5-2.7M19 12.5a10 10 0 0 0-4-2.4M12 19.5h.01',
  warning: 'M12 9v4M12 16.5h.01M10.3 4.5L2.8 17.5A2 2 0 0 0 4.5 20.5h15a2 2 0 0 0 1.7-3L13.7 4.5a2 2 0 0 0-3.4 0Z',
} as const;

export type IconName = keyof typeof paths;

export function icon(name: IconName): SVGElement {
  return drawIcon(name, paths[name]);
}
