import type { WidgetBot } from '../../widget/protocol.ts';
import { palette } from './palette.ts';

interface ThemeTarget {
  readonly wrapper: HTMLElement;
  readonly host: HTMLElement;
  readonly bot: WidgetBot;
}

/** Applies colors, size, corner and text direction. Returns a function that stops following the visitor's color scheme. */
export function applyTheme({ wrapper, host, bot: { look } }: ThemeTarget): () => void {
  wrapper.dataset.position = look.position;
  wrapper.dataset.size = look.size;
  wrapper.dir = textDirection(host, look.direction);
  const lang = host.closest('[lang]')?.getAttribute('lang');
  if (lang) wrapper.lang = lang;
  wrapper.style.setProperty('--radius', `${look.corner_radius}px`);
  wrapper.style.setProperty('--stack', String(findStackIndex(host, look.position)));
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

function textDirection(host: HTMLElement, configured: WidgetBot['look']['direction']): string {
  if (configured !== 'auto') return configured;
  const own = host.getAttribute('dir');
  if (own === 'rtl' || own === 'ltr') return own;
  return getComputedStyle(host.parentElement ?? document.documentElement).direction;
}

/** Popups of several bots in one corner are stacked: each takes the first free slot. */
function findStackIndex(host: HTMLElement, position: string): number {
  if (host.getAttribute('shown-as') !== 'popup') return 0;
  const others = [...document.querySelectorAll<HTMLElement>('svc-chatbot')].filter((other) => other !== host);
  let slot = 0;
  /* eslint-disable project/banned-words -- sites may read data-place */
  while (others.some((other) => other.dataset.place === `${position} ${slot}`)) slot++;
  host.dataset.place = `${position} ${slot}`;
  /* eslint-enable project/banned-words */
  return slot;
}
