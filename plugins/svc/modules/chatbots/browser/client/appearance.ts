import type { WidgetBot } from '../../widget/protocol.ts';
import { palette } from './palette.ts';

interface Dressed {
  readonly wrapper: HTMLElement;
  readonly host: HTMLElement;
  readonly bot: WidgetBot;
}

/** Colours, sizes, corner and direction. Answers what stops following the visitor's wish for light or dark. */
export function dressWrapper({ wrapper, host, bot: { look } }: Dressed): () => void {
  wrapper.dataset.position = look.position;
  wrapper.dataset.size = look.size;
  wrapper.dir = directionOf(host, look.direction);
  const lang = host.closest('[lang]')?.getAttribute('lang');
  if (lang) wrapper.lang = lang;
  wrapper.style.setProperty('--radius', `${look.corner_radius}px`);
  wrapper.style.setProperty('--stack', String(placeInCorner(host, look.position)));
  const theme = host.getAttribute('theme') ?? look.theme;
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const paint = (): void => {
    const scheme = theme === 'dark' || (theme !== 'light' && dark.matches) ? 'dark' : 'light';
    wrapper.dataset.scheme = scheme;
    for (const [name, color] of Object.entries(palette(look, scheme))) wrapper.style.setProperty(name, color);
  };
  paint();
  dark.addEventListener('change', paint);
  return () => dark.removeEventListener('change', paint);
}

function directionOf(host: HTMLElement, wanted: WidgetBot['look']['direction']): string {
  if (wanted !== 'auto') return wanted;
  const own = host.getAttribute('dir');
  if (own === 'rtl' || own === 'ltr') return own;
  return getComputedStyle(host.parentElement ?? document.documentElement).direction;
}

/** Popups of several bots in one corner stand above each other: the first place that is free, in whichever order they appear. */
function placeInCorner(host: HTMLElement, position: string): number {
  if (host.getAttribute('shown-as') !== 'popup') return 0;
  const others = [...document.querySelectorAll<HTMLElement>('svc-chatbot')].filter((other) => other !== host);
  let place = 0;
  while (others.some((other) => other.dataset.place === `${position} ${place}`)) place++;
  host.dataset.place = `${position} ${place}`;
  return place;
}
