import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AdminActionResult, type AdminRequest, invalidFields } from '#plugin-api';
import { expect } from 'chai';
import {
  downloadJson,
  importUpload,
  type RefusedImport,
  type ImportUploadInit,
} from '../../../plugins/svc/admin-ui/transfer-actions.ts';

describe('importing on a page', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-transfer-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function withFile(text: string): Promise<AdminRequest> {
    const path = join(folder, 'export.json');
    await writeFile(path, text);
    return {
      files: { file: { name: 'export.json', type: 'application/json', size: text.length, path } },
    } as unknown as AdminRequest;
  }
  const nothing = {} as AdminRequest;
  const made: ImportUploadInit['run'] = (text) => Promise.resolve({ notice: { kind: 'success', text } });
  const page = (refused: RefusedImport) => Promise.resolve({ template: 'acme/cups', data: { refused } });
  const refusal = (refused: RefusedImport): AdminActionResult => ({
    notice: { kind: 'error', text: 'Nothing was imported.' },
    page: { template: 'acme/cups', data: { refused } },
    status: 400,
  });

  it('uses the file, otherwise the pasted text', async () => {
    expect(await importUpload(await withFile('in the file'), { pasted: 'pasted', run: made, page })).to.deep.equal({
      notice: { kind: 'success', text: 'in the file' },
    });
    expect(await importUpload(nothing, { pasted: 'pasted', run: made, page })).to.deep.equal({
      notice: { kind: 'success', text: 'pasted' },
    });
  });

  it('requests missing input, and a file for long text', async () => {
    expect(await importUpload(nothing, { run: made, page })).to.deep.equal(
      refusal({ text: '', errors: ['Choose an export file.'] }),
    );
    expect(await importUpload(nothing, { pasted: ' \n', run: made, page })).to.deep.equal(
      refusal({ text: ' \n', errors: ['Choose an export file, or paste its content.'] }),
    );
    const long = 'x'.repeat(1_000_001);
    expect(await importUpload(nothing, { pasted: long, run: made, page })).to.deep.equal(
      refusal({ text: long, errors: ['The text is too long to paste. Upload it as a file.'] }),
    );
  });

  it('shows the page again with the first twenty errors and the pasted text', async () => {
    const sentences = Array.from({ length: 21 }, (_, at) => `Sentence ${String(at)}.`);
    const run = (): Promise<never> =>
      Promise.reject(
        invalidFields(Object.fromEntries(sentences.map((sentence, at) => [`cups[${String(at)}]`, sentence]))),
      );
    expect(await importUpload(nothing, { pasted: 'pasted', run, page })).to.deep.equal(
      refusal({ text: 'pasted', errors: sentences.slice(0, 20) }),
    );
    expect(await importUpload(await withFile('{}'), { pasted: 'pasted', run, page })).to.deep.equal(
      refusal({ text: '', errors: sentences.slice(0, 20) }),
    );
  });

  it('rethrows other errors', async () => {
    const lost = new Error('The database is away.');
    const thrown = await importUpload(nothing, { pasted: '{}', run: () => Promise.reject(lost), page }).catch(
      (error: unknown) => error,
    );
    expect(thrown).to.equal(lost);
  });
});

describe('a download of JSON', () => {
  it('is a file of two-space JSON that ends with a line break', async () => {
    const { download } = downloadJson('cups.json', { cups: [1] });
    const pieces: (string | Uint8Array)[] = [];
    for await (const piece of download?.content ?? []) pieces.push(piece);
    expect({ ...download, content: pieces.join('') }).to.deep.equal({
      name: 'cups.json',
      type: 'application/json; charset=utf-8',
      content: '{\n  "cups": [\n    1\n  ]\n}\n',
    });
  });
});
