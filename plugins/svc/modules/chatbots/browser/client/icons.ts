/** Icons of the button. Paths on a grid of 24 with a stroke of 2. */
const paths = {
  chat: 'M21 11.5a8.4 8.4 0 0 1-12.3 7.4L3 21l2.1-5.7A8.4 8.4 0 1 1 21 11.5ZM8.5 11.5h.01M12.5 11.5h.01M16.5 11.5h.01',
  robot: 'M5 9h14v10H5zM12 9V5M12 4h.01M9 13h.01M15 13h.01M9.5 16.5h5M2.5 13v3M21.5 13v3',
  spark:
    'M12 3l1.9 5.6a2.5 2.5 0 0 0 1.5 1.5' +
    'L21 12l-5.6 1.9a2.5 2.5 0 0 0-1.5 1.5L12 21l-1.9-5.6a2.5 2.5 0 0 0-1.5-1.5L3 12l5.6-1.9a2.5 2.5 0 0 0 1.5-1.5z',
  help: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM9.4 9.2a2.7 2.7 0 0 1 5.2 1c0 1.8-2.6 2.2-2.6 3.9M12 17.3h.01',
  heart: 'M12 20.5l-7.7-7.6a4.9 4.9 0 0 1 7-7l.7.7.7-.7a4.9 4.9 0 0 1 7 7z',
  close: 'M6 6l12 12M18 6L6 18',
  minimize: 'M6 9l6 6 6-6',
} as const;

export type FaceIcon = keyof typeof paths;

const namespace = 'http://www.w3.org/2000/svg';

/** A decorative icon in the color of the surrounding text. */
export function drawIcon(name: string, d: string): SVGElement {
  const svg = document.createElementNS(namespace, 'svg');
  const path = document.createElementNS(namespace, 'path');
  for (const [key, value] of Object.entries({
    viewBox: '0 0 24 24',
    class: `icon icon-${name}`,
    'aria-hidden': 'true',
    focusable: 'false',
  }))
    svg.setAttribute(key, value);
  path.setAttribute('d', d);
  svg.append(path);
  return svg;
}

export function faceIcon(name: FaceIcon): SVGElement {
  return drawIcon(name, paths[name]);
}
