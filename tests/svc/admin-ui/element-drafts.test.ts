import { expect } from 'chai';
import type { AdminRequest } from '#plugin-api';
import { arrangeElements } from '../../../plugins/svc/admin-ui/element-drafts.ts';

describe('rows of an editor', () => {
  const rows = ['a', 'b', 'c', 'd'];
  const after = (edit: string): string =>
    arrangeElements(rows, { form: { _do: edit, add_type: 'e' } } as unknown as AdminRequest, (type) => type).join('');

  it('are moved by buttons and by dragging, added and removed', () => {
    expect(['up:1', 'down:1', 'move:0:3', 'move:3:0', 'remove:2', 'add'].map(after)).to.deep.equal([
      ...['bacd', 'acbd', 'bcda', 'dabc', 'abd', 'abcde'],
    ]);
  });

  it('stay where they are if an index is out of range or the edit is unknown', () => {
    for (const edit of ['up:0', 'down:3', 'move:9:0', 'move:0:9', 'move:1', 'move:a:1', 'swap:1:2', ''])
      expect(after(edit), edit).to.equal('abcd');
  });
});
