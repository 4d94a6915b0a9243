import type { BotLook } from '../../bots/bot.ts';
import { contrast, luminance, mix, onColor, parseHex, readable, toHex, type Rgb } from './color.ts';

type Colours = Pick<
  BotLook,
  'primary_color' | 'text_color' | 'background_color' | 'user_bubble_color' | 'bot_bubble_color'
>;

const themes = {
  light: { background: [255, 255, 255], text: [26, 33, 48], primary: [61, 79, 209], bubble: 0.06 },
  dark: { background: [22, 26, 34], text: [231, 234, 241], primary: [84, 99, 226], bubble: 0.1 },
} as const satisfies Record<string, { background: Rgb; text: Rgb; primary: Rgb; bubble: number }>;

/**
 * Every colour of the widget, made of the few that are set, each text of them with at least 4.5 to its ground.
 * A ground meant for the other scheme is left out, so that a bot with a white one is still dark for visitors who want it dark.
 */
export function palette(colours: Colours, scheme: 'light' | 'dark'): Readonly<Record<string, string>> {
  const theme = themes[scheme];
  const fits = (color: Rgb | null): Rgb | null =>
    color && luminance(color) > 0.18 === (scheme === 'light') ? color : null;
  const background = fits(parseHex(colours.background_color)) ?? theme.background;
  const ink = (ground: Rgb): Rgb => {
    const wanted = parseHex(colours.text_color) ?? theme.text;
    return contrast(wanted, ground) >= 4.5
      ? wanted
      : contrast(theme.text, ground) >= 4.5
        ? theme.text
        : onColor(ground);
  };
  const text = ink(background);
  const primary = parseHex(colours.primary_color) ?? theme.primary;
  const userBubble = parseHex(colours.user_bubble_color) ?? primary;
  const botBubble = fits(parseHex(colours.bot_bubble_color)) ?? mix(background, text, theme.bubble);
  const botText = ink(botBubble);
  const muted = readable(mix(text, background, 0.35), [background, botBubble]);
  const danger = readable(scheme === 'light' ? [174, 35, 28] : [255, 143, 133], [background, botBubble]);
  const written: Record<string, Rgb> = {
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
  return Object.fromEntries(Object.entries(written).map(([name, color]) => [`--${name}`, toHex(color)]));
}
