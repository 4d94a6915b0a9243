import { expect } from 'chai';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createAnonymous, createUser } from '../../host/users/user.ts';
import { createRoles, roleNames } from '../../host/users/roles.ts';

describe('capabilities', () => {
  const withRoles = (...roles: string[]) =>
    createUser({ id: 7, login: 'x', email: 'x@example.com', displayName: 'X', roles }, createHooks());

  it("follow WordPress's roles", () => {
    const held: Record<string, string[]> = {
      read: ['administrator', 'editor', 'author', 'contributor', 'subscriber'],
      edit_posts: ['administrator', 'editor', 'author', 'contributor'],
      publish_posts: ['administrator', 'editor', 'author'],
      upload_files: ['administrator', 'editor', 'author'],
      edit_others_posts: ['administrator', 'editor'],
      manage_categories: ['administrator', 'editor'],
      manage_options: ['administrator'],
      activate_plugins: ['administrator'],
      list_users: ['administrator'],
      nope: [],
    };
    for (const [capability, roles] of Object.entries(held)) {
      expect(
        roleNames.filter((role) => withRoles(role).can(capability)),
        capability,
      ).to.deep.equal(roles);
    }
  });

  it('count the name of a role, add up over roles, and take unknown roles for none', () => {
    expect(withRoles('editor').can('editor')).to.equal(true);
    expect(withRoles('subscriber', 'author').can('publish_posts')).to.equal(true);
    expect(withRoles('king').can('read')).to.equal(false);
    expect(withRoles().can('exist')).to.equal(true);
  });

  it('grow by roles and capabilities of plugins, until each is undone', () => {
    const roles = createRoles();
    const can = (role: string, capability: string): boolean =>
      createUser({ id: 7, login: 'x', email: '', displayName: 'X', roles: [role] }, createHooks(), roles).can(
        capability,
      );
    const undoRole = roles.addRole({ name: 'shop_clerk', label: 'Clerk', capabilities: ['read', 'shop_sell'] });
    expect(roles.roles().at(-1)).to.deep.equal({
      name: 'shop_clerk',
      label: 'Clerk',
      capabilities: ['read', 'shop_sell'],
    });
    expect([
      can('shop_clerk', 'shop_sell'),
      can('shop_clerk', 'shop_clerk'),
      can('administrator', 'shop_sell'),
    ]).to.deep.equal([true, true, false]);
    const undos = ['one', 'two'].map(() => roles.addCapability('administrator', 'shop_sell'));
    undos[0]?.();
    undos[0]?.();
    expect(can('administrator', 'shop_sell')).to.equal(true);
    undos[1]?.();
    expect(can('administrator', 'shop_sell')).to.equal(false);
    expect(() => roles.addRole({ name: 'editor', label: 'E', capabilities: [] })).to.throw("'editor' already exists");
    expect(() => roles.addRole({ name: 'No', label: 'E', capabilities: [] })).to.throw("'No' is no name of a role");
    expect(() => roles.addCapability('editor', '__proto__')).to.throw('is no name of a capability');
    expect(() => roles.addCapability('king', 'rule')).to.throw(`There is no role 'king'`);
    undoRole();
    undoRole();
    expect([can('shop_clerk', 'read'), roles.isRole('shop_clerk')]).to.deep.equal([false, false]);
  });

  it('of a visitor are none', () => {
    const visitor = createAnonymous(createHooks());
    expect([visitor.id, visitor.can('read'), visitor.can('exist'), visitor.can('manage_options')]).to.deep.equal([
      0,
      false,
      true,
      false,
    ]);
  });

  it('are not found on the prototype', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
      expect(withRoles('administrator').can(name), name).to.equal(false);
  });

  it('of administrators outlast a filter that throws, which is named in the log', () => {
    const lines: unknown[] = [];
    const hooks = createHooks({ log: { error: (message, fields) => void lines.push([message, fields]) } });
    const failures: unknown[] = [];
    hooks.onFailure(({ owner }) => failures.push(owner));
    const error = new Error('broken');
    hooks.forOwner('shop').addFilter('user_has_cap', () => {
      throw error;
    });
    const make = (role: string) =>
      createUser({ id: 7, login: 'x', email: 'x@example.com', displayName: 'X', roles: [role] }, hooks);
    expect([make('administrator').can('activate_plugins'), make('administrator').can('nope')]).to.deep.equal([
      true,
      false,
    ]);
    expect(lines[0]).to.deep.equal([
      "The filter 'user_has_cap' failed; its value was not used",
      { event: 'hook_filter_failed', hook: 'user_has_cap', plugin: 'shop', error, times: 1 },
    ]);
    expect(failures, 'the same error twice').to.deep.equal(['shop']);
    expect([make('editor').can('edit_posts'), make('editor').can('exist')]).to.deep.equal([false, true]);
  });

  it('of administrators outlast a map_meta_cap that throws, but for changes of code', () => {
    const lines: unknown[] = [];
    const hooks = createHooks({ log: { error: (_message, fields) => void lines.push(fields?.['hook']) } });
    hooks.forOwner('shop').addFilter('map_meta_cap', () => {
      throw new Error('broken');
    });
    const make = (role: string) =>
      createUser({ id: 7, login: 'x', email: 'x@example.com', displayName: 'X', roles: [role] }, hooks);
    const can = (name: string, ...args: number[]): boolean => make('administrator').can(name, ...args);
    expect([can('activate_plugins'), can('edit_user', 3), can('delete_plugins'), can('nope')]).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
    expect(lines[0]).to.equal('map_meta_cap');
    expect([make('editor').can('edit_posts'), make('editor').can('exist')]).to.deep.equal([false, false]);
  });

  it('can be given and taken by user_has_cap', () => {
    const hooks = createHooks();
    const user = createUser(
      { id: 7, login: 'x', email: 'x@example.com', displayName: 'X', roles: ['subscriber'] },
      hooks,
    );
    const seen: unknown[] = [];
    hooks.addFilter('user_has_cap', (...[held, required, args, who]) => {
      seen.push([required, args, who.id]);
      return { ...held, manage_svc: true, read: false };
    });
    expect([user.can('manage_svc', 3), user.can('read')]).to.deep.equal([true, false]);
    expect(seen[0]).to.deep.equal([['manage_svc'], ['manage_svc', 7, 3], 7]);
  });

  it('can stand for others by map_meta_cap', () => {
    const hooks = createHooks();
    const user = createUser({ id: 7, login: 'x', email: 'x@example.com', displayName: 'X', roles: ['author'] }, hooks);
    hooks.addFilter('map_meta_cap', (...[required, capability, userId, args]) => {
      if (capability !== 'edit_post') return required;
      return args[0] === 1 && userId === 7
        ? ['edit_posts', 'edit_published_posts']
        : args[0] === 2
          ? ['edit_others_posts']
          : ['do_not_allow'];
    });
    expect([
      user.can('edit_post', 1),
      user.can('edit_post', 2),
      user.can('edit_post', 3),
      user.can('edit_posts'),
    ]).to.deep.equal([true, false, false, true]);
  });
});
