import { deflateSync } from 'node:zlib';

export interface PdfTextLine {
  readonly text: string;
  /** Points. Default 11. */
  readonly size?: number;
  /** Points of room above. Default 3. */
  readonly gap?: number;
}

/** A real PDF with one page per list of lines, in Helvetica; text is Latin-1. */
export function makePdf(pages: readonly (readonly PdfTextLine[])[], title = ''): Uint8Array {
  const objects: string[] = [];
  const add = (body: string): number => objects.push(body);
  const pageIds = pages.map((_, at) => 4 + at * 2);
  add('<< /Type /Catalog /Pages 2 0 R >>');
  add(
    `<< /Type /Pages /Kids [${pageIds.map((id) => `${String(id)} 0 R`).join(' ')}] /Count ${String(pages.length)} >>`,
  );
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  for (const [at, lines] of pages.entries()) {
    const content = contentOf(lines);
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${String((pageIds[at] ?? 0) + 1)} 0 R >>`,
    );
    add(`<< /Length ${String(content.length)} >>\nstream\n${content}\nendstream`);
  }
  return writePdf(objects, `/Info ${String(add(`<< /Title (${escaped(title)}) >>`))} 0 R`);
}

/** A PDF of one page with operators of its text. @param font of `/F1` */
export function makePdfPage(content: string, font: string): Uint8Array {
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>',
    font,
    `<< /Length ${String(content.length)} >>\nstream\n${content}\nendstream`,
  ]);
}

/** @param objects the first is the catalog */
function writePdf(objects: readonly string[], trailer = ''): Uint8Array {
  let file = '%PDF-1.4\n';
  const places = objects.map((body, at) => {
    const place = file.length;
    file += `${String(at + 1)} 0 obj\n${body}\nendobj\n`;
    return place;
  });
  const start = file.length;
  file += `xref\n0 ${String(objects.length + 1)}\n0000000000 65535 f \n${places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')}`;
  file += `trailer\n<< /Size ${String(objects.length + 1)} /Root 1 0 R ${trailer} >>\nstartxref\n${String(start)}\n%%EOF\n`;
  return Buffer.from(file, 'latin1');
}

function contentOf(lines: readonly PdfTextLine[]): string {
  let y = 800;
  const parts = lines.map(({ text, size = 11, gap = 3 }) => {
    y -= size + gap;
    return `BT /F1 ${String(size)} Tf 1 0 0 1 50 ${String(y)} Tm (${escaped(text)}) Tj ET`;
  });
  return parts.join('\n');
}

function escaped(text: string): string {
  return text.replace(/[\\()]/g, '\\$&');
}

/** A small PDF whose pages share one stream of text operators that inflates to a large one. */
export function makeInflatingPdf({
  megabytes,
  pages = 1,
  operator = 'BT /F1 11 Tf 1 0 0 1 50 50 Tm (a) Tj ET\n',
}: {
  readonly megabytes: number;
  readonly pages?: number;
  readonly operator?: string;
}): Buffer<ArrayBuffer> {
  const stream = deflateSync(operator.repeat(Math.floor((megabytes * 1_048_576) / operator.length)), { level: 9 });
  const kids = Array.from({ length: pages }, (_, at) => `${String(at + 5)} 0 R`).join(' ');
  const page =
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents 4 0 R >>';
  const bodies: readonly (string | Buffer)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${String(pages)} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    Buffer.concat([
      Buffer.from(`<< /Length ${String(stream.length)} /Filter /FlateDecode >>\nstream\n`),
      stream,
      Buffer.from('\nendstream'),
    ]),
    ...Array.from({ length: pages }, () => page),
  ];
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  let length = parts[0]?.length ?? 0;
  const places: number[] = [];
  for (const [at, body] of bodies.entries()) {
    const object = Buffer.concat([
      Buffer.from(`${String(at + 1)} 0 obj\n`),
      Buffer.from(body),
      Buffer.from('\nendobj\n'),
    ]);
    places.push(length);
    parts.push(object);
    length += object.length;
  }
  const rows = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  const size = String(bodies.length + 1);
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${String(length)}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}
