import {
  parseId,
  RestError,
  backToList,
  clampPage,
  formatCount,
  listQuery,
  listView,
  readIds,
  readList,
  restError,
} from '#plugin-api';
import { withNotice } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, AdminView, Taxonomy, Term } from '#plugin-api';
import type { TermInput, TermQuery } from '#plugin-api';
import type { ContentPagesDependencies } from './content-pages.ts';
import { readQuery, readText } from './form.ts';
import { termsPath, treeOf } from './term-fields.ts';

const maxParents = 500;

interface Shown {
  readonly request: AdminRequest;
  readonly typed?: Readonly<Record<string, string>>;
  readonly errors?: Readonly<Record<string, string>>;
  /** Id of the edited term; 0: a new one. */
  readonly editing?: number;
}

/** The terms of a taxonomy: list, search, add, edit and delete. */
export function createTermsPage(given: ContentPagesDependencies, taxonomy: Taxonomy): AdminPageBody {
  const { terms } = given.parts;
  const path = termsPath(taxonomy.name);
  const find = async (id: number): Promise<Term> => {
    const term = await terms.get(id);
    if (term?.taxonomy === taxonomy.name) return term;
    throw restError(
      404,
      'rest_term_invalid',
      `This ${taxonomy.singularLabel.toLowerCase()} does not exist. It may have been deleted.`,
    );
  };
  const remove = async (request: AdminRequest, ids: readonly number[]): Promise<AdminActionResult> => {
    if (!request.user.can(taxonomy.capabilities.delete_terms))
      throw restError(
        403,
        'rest_cannot_delete',
        `You are not allowed to delete this ${taxonomy.singularLabel.toLowerCase()}.`,
      );
    const found: Term[] = [];
    for (const id of ids) found.push(await find(id));
    for (const { id } of found) await terms.delete(id);
    const [first] = found;
    const what = found.length === 1 ? `“${first?.name ?? ''}”` : formatCount(found.length, ...countWords(taxonomy));
    return withNotice('success', `${what} deleted. Posts that had ${found.length === 1 ? 'it' : 'them'} are kept.`, {
      redirect: backToList(request, path, ['s']).redirect,
    });
  };
  return {
    render: async (request) => {
      const id = parseId(readQuery(request, 'id'));
      return showTerms(given, taxonomy, { request, editing: id === 0 ? 0 : (await find(id)).id });
    },
    actions: {
      save: async (request) => {
        const id = parseId(readText(request, 'id'));
        const before = id === 0 ? null : await find(id);
        const typed = Object.fromEntries(
          ['name', 'slug', 'parent', 'description'].map((name) => [name, readText(request, name) ?? '']),
        );
        const input: TermInput & { readonly name: string } = {
          name: (typed['name'] ?? '').trim(),
          slug: (typed['slug'] ?? '').trim(),
          description: typed['description'] ?? '',
          ...(taxonomy.hierarchical && { parentId: parseId(typed['parent']) }),
        };
        try {
          const saved = before === null ? await terms.create(taxonomy.name, input) : await terms.update(id, input);
          return withNotice('success', `“${saved.name}” ${before === null ? 'created' : 'saved'}.`, { redirect: path });
        } catch (error) {
          const errors = error instanceof RestError ? fieldErrors(error) : null;
          if (errors === null) throw error;
          return withNotice('error', 'Nothing was saved. Correct the marked fields.', {
            page: await showTerms(given, taxonomy, { request, editing: id, typed, errors }),
            data: { errors },
            status: 400,
          });
        }
      },
      delete: (request) => remove(request, [parseId(readText(request, 'id'))]),
      bulk: (request) => remove(request, readIds(request)),
    },
  };
}

/** One and several, such as `category` and `categories`. */
function countWords({ singularLabel, label }: Taxonomy): [string, string] {
  return [singularLabel.toLowerCase(), label.toLowerCase()];
}

/** The field of an error of the terms, or null if it concerns none. */
function fieldErrors({ code, message }: RestError): Record<string, string> | null {
  if (code === 'empty_term_name') return { name: 'Enter a name.' };
  if (code === 'term_exists') return { name: message };
  if (code === 'duplicate_term_slug') return { slug: message };
  if (code === 'rest_term_invalid_parent' || code === 'rest_term_invalid') return { parent: message };
  return null;
}

const columns = [
  { label: 'Name', key: 'name' },
  { label: 'Slug', key: 'slug' },
  { label: 'Posts', key: 'count', isNumber: true },
];

/** Whole sentences for the taxonomies of the host, so that translations can change the case of the name. */
function listTexts({ name, label }: Taxonomy): { readonly searchLabel: string; readonly emptyTitle: string } {
  if (name === 'category') return { searchLabel: 'Search categories', emptyTitle: 'No categories yet' };
  if (name === 'post_tag') return { searchLabel: 'Search tags', emptyTitle: 'No tags yet' };
  return { searchLabel: `Search ${label.toLowerCase()}`, emptyTitle: `No ${label.toLowerCase()} yet` };
}

async function showTerms(
  given: ContentPagesDependencies,
  taxonomy: Taxonomy,
  { request, typed, errors = {}, editing = 0 }: Shown,
): Promise<AdminView> {
  const { terms } = given.parts;
  const { name, label, singularLabel, hierarchical, capabilities } = taxonomy;
  const search = readQuery(request, 's');
  const filter = { taxonomy: name, ...(search !== '' && { search }) };
  const total = await terms.count(filter);
  const list = clampPage(readList(request, { sortable: ['name', 'slug', 'count'], filters: { s: search } }), total);
  const found = await terms.find({
    ...filter,
    orderBy: list.sort as NonNullable<TermQuery['orderBy']>,
    order: list.order,
    limit: list.perPage,
    offset: (list.page - 1) * list.perPage,
  });
  const edited = editing === 0 ? null : await terms.get(editing);
  const links = taxonomy.public ? await terms.links(found) : new Map<number, string>();
  const mayDelete = request.user.can(capabilities.delete_terms);
  const toRow = async (term: Term): Promise<Record<string, unknown>> => ({
    id: term.id,
    name: term.name,
    slug: term.slug,
    count: term.count,
    editUrl: `${termsPath(name)}?id=${term.id}`,
    viewUrl: term.count > 0 ? links.get(term.id) : undefined,
    mayDelete: mayDelete && !(await terms.isDefault(term)),
    fields: { id: String(term.id), back: listQuery(list) },
  });
  return {
    template: 'admin/content/terms',
    ...(edited !== null && { title: edited.name, trail: [{ title: label, href: given.admin.url(termsPath(name)) }] }),
    data: {
      path: termsPath(name),
      label,
      singular: singularLabel.toLowerCase(),
      isTree: hierarchical,
      id: edited?.id ?? null,
      values: typed ?? {
        name: edited?.name ?? '',
        slug: edited?.slug ?? '',
        parent: String(edited?.parentId ?? 0),
        description: edited?.description ?? '',
      },
      errors,
      parents: hierarchical ? await parentChoices(given, name, editing) : [],
      search,
      ...listTexts(taxonomy),
      mayDeleteAny: mayDelete,
      bulkFields: { back: listQuery(list) },
      bulkOptions: [
        {
          value: 'delete',
          label: 'Delete',
          confirm: `Delete the selected ${label.toLowerCase()}? Posts that have them are kept.`,
        },
      ],
      list: listView(list, {
        total,
        text: formatCount(total, ...countWords(taxonomy)),
        chips: { s: `Search: ${search}` },
        columns,
      }),
      terms: await Promise.all(found.map(toRow)),
    },
  };
}

async function parentChoices({ parts }: ContentPagesDependencies, taxonomy: string, editing: number) {
  const all = await parts.terms.find({ taxonomy, limit: maxParents, ...(editing > 0 && { exclude: [editing] }) });
  return [
    { value: '0', label: 'None' },
    ...treeOf(all).map(({ term, depth }) => ({
      value: String(term.id),
      label: `${'– '.repeat(depth)}${term.name}`,
      isData: true,
    })),
  ];
}
