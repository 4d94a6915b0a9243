import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** A zip file with these entries, in their order. */
export async function makeZip(entries: Readonly<Record<string, string | Uint8Array>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(entries)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  return buffer(zip.outputStream);
}

const relationTypes = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** The relations of a part of an Office file: type and target by id. */
export const relations = (targets: Readonly<Record<string, readonly [type: string, target: string]>>): string =>
  `<Relationships>${Object.entries(targets)
    .map(([id, [type, target]]) => `<Relationship Id="${id}" Type="${relationTypes}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

/** A Word file with the content of its body. */
export const makeDocx = (body: string, more: Readonly<Record<string, string>> = {}): Promise<Buffer> =>
  makeZip({
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': relations({ rId1: ['officeDocument', 'word/document.xml'] }),
    'word/document.xml': `<?xml version="1.0"?><w:document><w:body>${body}</w:body></w:document>`,
    ...more,
  });

/** An Excel file with the content of `sheetData` by the name of its sheet. */
export const makeXlsx = (
  sheets: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>> = {},
): Promise<Buffer> => {
  const names = Object.keys(sheets);
  const id = (at: number): string => `rId${String(at + 1)}`;
  return makeZip({
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': relations({ rId1: ['officeDocument', 'xl/workbook.xml'] }),
    'xl/workbook.xml': `<workbook><sheets>${names.map((name, at) => `<sheet name="${name}" sheetId="${String(at + 1)}" r:id="${id(at)}"${name.startsWith('Hidden') ? ' state="hidden"' : ''}/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations({
      ...Object.fromEntries(names.map((_, at) => [id(at), ['worksheet', `worksheets/sheet${String(at)}.xml`]])),
      texts: ['sharedStrings', 'sharedStrings.xml'],
      styles: ['styles', '/xl/styles.xml'],
    }),
    ...Object.fromEntries(
      Object.values(sheets).map((rows, at) => [
        `xl/worksheets/sheet${String(at)}.xml`,
        `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
      ]),
    ),
    ...more,
  });
};
