import type { BotLook } from '../../bots/bot.ts';

/** Red, green, blue: 0 to 255. */
export type Rgb = readonly [number, number, number];

/** Reads `#rrggbb`; null for anything else. */
export function parseHex(text: string): Rgb | null {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text.trim());
  return match && [parseInt(match[1] ?? '', 16), parseInt(match[2] ?? '', 16), parseInt(match[3] ?? '', 16)];
}

export function toHex(color: Rgb): string {
  return `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

/** Relative luminance of WCAG 2, 0 (black) to 1 (white). */
function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast of WCAG 2, 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((left, right) => left - right) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Mixes `share` (0 to 1) of `other` into `color`, rounded like the hex color, so that contrasts are exact. */
function mix(color: Rgb, other: Rgb, share: number): Rgb {
  return [0, 1, 2].map((index) =>
    Math.round((color[index] ?? 0) * (1 - share) + (other[index] ?? 0) * share),
  ) as unknown as Rgb;
}

const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];

/** A text color for a background: white if its contrast is enough, else black. */
export function onColor(background: Rgb): Rgb {
  return contrast(white, background) >= 4.5 ? white : black;
}

/** The color, moved toward black or white just enough to contrast with all backgrounds. */
export function readable(color: Rgb, backgrounds: readonly Rgb[], minimum = 4.5): Rgb {
  const [first = white] = backgrounds;
  const target: Rgb = luminance(first) > 0.18 ? black : white;
  for (let share = 0; share < 1; share += 0.05) {
    const moved = mix(color, target, share);
    if (backgrounds.every((background) => contrast(moved, background) >= minimum)) return moved;
  }
  return target;
}

type Colors = Pick<
  BotLook,
  'primary_color' | 'text_color' | 'background_color' | 'user_bubble_color' | 'bot_bubble_color'
>;

const themes = {
  light: { background: [255, 255, 255], text: [26, 33, 48], primary: [61, 79, 209], bubble: 0.06 },
  dark: { background: [22, 26, 34], text: [231, 234, 241], primary: [84, 99, 226], bubble: 0.1 },
} as const satisfies Record<string, { background: Rgb; text: Rgb; primary: Rgb; bubble: number }>;

/**
 * Derives all colors of the widget from the configured ones. Every text has a contrast of at least 4.5 to its background.
 * A background for the other scheme is ignored, so that a bot with a white one is still dark in dark mode.
 */
export function palette(colors: Colors, scheme: 'light' | 'dark'): Readonly<Record<string, string>> {
  const theme = themes[scheme];
  const fits = (color: Rgb | null): Rgb | null =>
    color && luminance(color) > 0.18 === (scheme === 'light') ? color : null;
  const background = fits(parseHex(colors.background_color)) ?? theme.background;
  const textOn = (ground: Rgb): Rgb => {
    const configured = parseHex(colors.text_color) ?? theme.text;
    return contrast(configured, ground) >= 4.5
      ? configured
      : contrast(theme.text, ground) >= 4.5
        ? theme.text
        : onColor(ground);
  };
  const text = textOn(background);
  const primary = parseHex(colors.primary_color) ?? theme.primary;
  const userBubble = parseHex(colors.user_bubble_color) ?? primary;
  const botBubble = fits(parseHex(colors.bot_bubble_color)) ?? mix(background, text, theme.bubble);
  const botText = textOn(botBubble);
  const muted = readable(mix(text, background, 0.35), [background, botBubble]);
  const danger = readable(scheme === 'light' ? [174, 35, 28] : [255, 143, 133], [background, botBubble]);
  const derived: Record<string, Rgb> = {
    background,
    text,
    muted,
    danger,
    primary,
    'on-primary': onColor(primary),
    accent: readable(primary, [background, botBubble]),
    'user-bubble': userBubble,
    'on-user-bubble': onColor(userBubble),
    'bot-bubble': botBubble,
    'on-bot-bubble': botText,
    border: mix(background, text, 0.14),
    'border-strong': readable(mix(background, text, 0.4), [background], 3),
    hover: mix(background, text, 0.08),
    code: mix(botBubble, botText, 0.07),
  };
  return Object.fromEntries(Object.entries(derived).map(([name, color]) => [`--${name}`, toHex(color)]));
}
