import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { openContentSite, type ContentSite } from './content-site.ts';

describeHosts('commands of content', (dialectCase) => {
  let site: ContentSite;
  beforeEach(async () => {
    site = await openContentSite(dialectCase);
  });
  afterEach(() => site.host.stop());

  const run = async (...argv: string[]): Promise<unknown> => {
    const { code, out, err } = await site.host.cli(...argv, '--json');
    return code === 0 ? (JSON.parse(out) as unknown) : err.trim();
  };

  it('create, list and delete posts', async () => {
    await site.as('administrator');
    expect(await run('post', 'create', '--post_title=Hello', '--post_status=publish')).to.deep.include({
      id: 1,
      slug: 'hello',
      status: 'publish',
      author: 1,
    });
    expect(await run('post', 'list')).to.deep.equal([
      {
        id: 1,
        type: 'post',
        status: 'publish',
        title: 'Hello',
        slug: 'hello',
        author: 1,
        date: '2026-01-01T00:00:00.000Z',
        url: `${site.host.url}/2026/01/hello/`,
      },
    ]);
    expect(await run('post', 'list', '--s=nothing')).to.deep.equal([]);
    expect(await run('post', 'delete', '1')).to.deep.equal({ id: 1, deleted: false });
    expect(await run('post', 'delete', '1', '--force')).to.deep.equal({ id: 1, deleted: true });
    expect(await run('post', 'delete', '1')).to.contain('Post 1 does not exist.');
    expect(await run('post', 'create')).to.contain('Content, title, and excerpt are empty.');
    expect(await run('post', 'create', '--post_title=x', '--post_author=nobody')).to.contain(
      "User 'nobody' does not exist.",
    );
  });

  it('import a file', async () => {
    const file = join(dialectCase.directory(), 'notes.txt');
    await writeFile(file, 'Just text.\n');
    expect(await run('media', 'import', file, '--title=Notes')).to.deep.include({
      url: `${site.host.url}/uploads/2026/01/notes.txt`,
      mime_type: 'text/plain',
      size: 11,
    });
    expect(await run('media', 'import', '/none.png')).to.contain("The file '/none.png' cannot be read.");
    await writeFile(file, Buffer.from([0, 1, 2]));
    expect(await run('media', 'import', file)).to.contain('not allowed to upload this file type');
  });
});
