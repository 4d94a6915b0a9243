import { drawable, glyphHeight, glyphWidth, hasDot } from './font.ts';
import { encodePng } from './png.ts';

/** All that a picture is made of: the same recipe gives the same file. */
export interface PictureRecipe {
  /** Pixels, 16 to 4096. */
  readonly width: number;
  readonly height: number;
  /** Hexadecimal, 32 digits: colours and shapes. */
  readonly fingerprint: string;
  /** The first words of the prompt, which are written in it. */
  readonly caption: string;
}

/** Dots along the shorter side; each becomes a square of pixels. */
const dots = 64;
const background = [0, 1, 2, 3] as const;
const ink = 8;
const paper = 9;

/** A generated picture as a PNG file: bands of colour, some shapes, and a caption. A few kilobytes whatever its size. */
export function drawPicture({ width, height, fingerprint, caption }: PictureRecipe): Buffer {
  const edge = Math.max(1, Math.floor(Math.min(width, height) / dots));
  const columns = Math.ceil(width / edge);
  const rows = Math.ceil(height / edge);
  const chance = chances(fingerprint);
  const palette = makePalette(chance);
  const canvas = Array.from({ length: rows }, (_, y) =>
    new Uint8Array(columns).fill(background[Math.floor((y / rows) * background.length)] ?? 0),
  );
  drawShapes(canvas, columns, chance);
  drawCaption(canvas, columns, caption);
  // Every row of dots is stretched once and then shown several times.
  const stretched = canvas.map((row) => Uint8Array.from({ length: width }, (_, x) => row[Math.floor(x / edge)] ?? 0));
  return encodePng({ width, height, palette, row: (y) => stretched[Math.floor(y / edge)] ?? new Uint8Array(width) });
}

/** Numbers from 0 to below 1, one after the other, from the digits of a fingerprint. */
function chances(fingerprint: string): () => number {
  let state = parseInt(fingerprint.slice(0, 8), 16) ^ parseInt(fingerprint.slice(8, 16), 16);
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}

/** Four shades of one hue behind, four colours of the shapes, ink and paper. */
function makePalette(chance: () => number): [number, number, number][] {
  const hue = chance() * 360;
  const behind = background.map((shade) => rgb(hue + shade * 12, 0.45, 0.3 + shade * 0.13));
  const shapes = [60, 140, 200, 280].map((turn) => rgb(hue + turn + chance() * 30, 0.65, 0.55));
  return [...behind, ...shapes, [24, 24, 27], [250, 250, 249]];
}

function rgb(hue: number, saturation: number, lightness: number): [number, number, number] {
  const amount = saturation * Math.min(lightness, 1 - lightness);
  const part = (offset: number): number => {
    const at = (offset + hue / 30) % 12;
    return Math.round(255 * (lightness - amount * Math.max(-1, Math.min(at - 3, 9 - at, 1))));
  };
  return [part(0), part(8), part(4)];
}

function drawShapes(canvas: readonly Uint8Array[], columns: number, chance: () => number): void {
  const rows = canvas.length;
  for (let shape = 0; shape < 6; shape += 1) {
    const centre = { x: chance() * columns, y: chance() * rows };
    const radius = (0.08 + chance() * 0.2) * Math.min(columns, rows);
    const kind = kinds[Math.floor(chance() * kinds.length)] ?? inCircle;
    canvas.forEach((row, y) => {
      for (let x = 0; x < columns; x += 1)
        if (kind((x - centre.x) / radius, (y - centre.y) / radius)) row[x] = 4 + (shape % 4);
    });
  }
}

/** Whether a point is inside; the centre is at 0, 0 and the radius 1. */
const inCircle = (x: number, y: number): boolean => x * x + y * y <= 1;
const kinds = [
  inCircle,
  (x: number, y: number) => Math.max(Math.abs(x), Math.abs(y)) <= 0.85,
  (x: number, y: number) => y <= 0.8 && Math.abs(x) * 1.6 <= y + 0.8,
  (x: number, y: number) => Math.abs(x) + Math.abs(y) <= 1,
];

/** Up to three lines of the caption on paper, at the foot of the picture. */
function drawCaption(canvas: readonly Uint8Array[], columns: number, caption: string): void {
  const lines = wrapped(drawable(caption), Math.floor((columns - 4) / (glyphWidth + 1))).slice(0, 3);
  const lineHeight = glyphHeight + 2;
  const top = canvas.length - lines.length * lineHeight - 3;
  if (lines.length === 0 || top < 0) return;
  canvas.slice(top).forEach((row) => row.fill(paper));
  lines.forEach((line, index) => {
    [...line].forEach((letter, position) => {
      for (let dot = 0; dot < glyphWidth * glyphHeight; dot += 1) {
        const [column, y] = [dot % glyphWidth, Math.floor(dot / glyphWidth)];
        const row = canvas[top + 2 + index * lineHeight + y];
        if (row && hasDot(letter, column, y)) row[2 + position * (glyphWidth + 1) + column] = ink;
      }
    });
  });
}

function wrapped(text: string, letters: number): string[] {
  const lines: string[] = [];
  for (const word of text === '' ? [] : text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= letters) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word.slice(0, letters));
  }
  return lines;
}
