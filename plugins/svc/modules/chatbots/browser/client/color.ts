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
export function luminance(color: Rgb): number {
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

/** `share` of `other` in `color`, 0 to 1; rounded as it will be written, so that contrasts are those of what is shown. */
export function mix(color: Rgb, other: Rgb, share: number): Rgb {
  return [0, 1, 2].map((index) =>
    Math.round((color[index] ?? 0) * (1 - share) + (other[index] ?? 0) * share),
  ) as unknown as Rgb;
}

const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];

/** What is read on a colour: white where it will do, else black, which then always does. */
export function onColor(background: Rgb): Rgb {
  return contrast(white, background) >= 4.5 ? white : black;
}

/** The colour, moved as little as it takes towards black or white until it stands out from all the backgrounds. */
export function readable(color: Rgb, backgrounds: readonly Rgb[], minimum = 4.5): Rgb {
  const [first = white] = backgrounds;
  const target: Rgb = luminance(first) > 0.18 ? black : white;
  for (let share = 0; share < 1; share += 0.05) {
    const moved = mix(color, target, share);
    if (backgrounds.every((background) => contrast(moved, background) >= minimum)) return moved;
  }
  return target;
}
