import type { HooksApi, Taxonomy, TaxonomyDefinition, TaxonomyLabels } from '#plugin-api';
import { createRegistry, type Registry } from '../types/registry.ts';

export type Taxonomies = Registry<Taxonomy>;

/** The option with the id of the category for posts without one. */
export const defaultCategorySetting = 'default_category';

const builtIn: Readonly<Record<string, TaxonomyDefinition>> = {
  category: {
    label: 'Categories',
    singularLabel: 'Category',
    types: ['post'],
    hierarchical: true,
    showInRest: true,
    restBase: 'categories',
    capabilities: capabilitiesNamed('categories', 'manage_categories'),
    labels: { name_admin_bar: 'category', template_name: 'Category Archives' },
  },
  post_tag: {
    label: 'Tags',
    singularLabel: 'Tag',
    types: ['post'],
    rewriteSlug: 'tag',
    showInRest: true,
    restBase: 'tags',
    capabilities: capabilitiesNamed('post_tags', 'manage_post_tags'),
    labels: { name_admin_bar: 'post_tag', template_name: 'Tag Archives' },
  },
};

function capabilitiesNamed(plural: string, manage: string): Taxonomy['capabilities'] {
  return {
    manage_terms: manage,
    edit_terms: `edit_${plural}`,
    delete_terms: `delete_${plural}`,
    assign_terms: `assign_${plural}`,
  };
}

/** A registry with categories and tags. */
export function createTaxonomies(): Taxonomies {
  const taxonomies = createRegistry<Taxonomy>('taxonomy');
  for (const [name, definition] of Object.entries(builtIn)) taxonomies.add(defineTaxonomy(name, definition, true));
  return taxonomies;
}

/** The taxonomies of posts of a type, in order of registration. */
export function taxonomiesOf(taxonomies: Taxonomies, type: string): readonly Taxonomy[] {
  return taxonomies.all().filter(({ types }) => types.includes(type));
}

/** @throws Error for an invalid name or path. */
export function defineTaxonomy(name: string, definition: TaxonomyDefinition, isBuiltIn = false): Taxonomy {
  if (!/^[a-z0-9_-]{1,32}$/.test(name))
    throw new Error(`'${name}' is not a valid taxonomy; use 1 to 32 lowercase letters, digits, '-' and '_'.`);
  const { capabilities, labels, ...rest } = definition;
  const taxonomy: Taxonomy = {
    description: '',
    hierarchical: false,
    public: true,
    rewriteSlug: name,
    showInRest: false,
    restBase: name,
    showInAdmin: rest.public ?? true,
    ...rest,
    name,
    isBuiltIn,
    labels: { ...makeLabels(name, definition), ...labels },
    capabilities: {
      manage_terms: 'manage_categories',
      edit_terms: 'manage_categories',
      delete_terms: 'manage_categories',
      assign_terms: 'edit_posts',
      ...capabilities,
    },
  };
  for (const [member, path] of [
    ['rewriteSlug', taxonomy.rewriteSlug],
    ['restBase', taxonomy.restBase],
  ] as const) {
    if (!/^[a-z0-9][a-z0-9_-]*$/.test(path))
      throw new Error(
        `The ${member} '${path}' of the taxonomy '${name}' is not a valid URL path; use lowercase letters, digits, '-' and '_'.`,
      );
  }
  return taxonomy;
}

/** The texts that WordPress makes for a taxonomy with these names. */
function makeLabels(
  name: string,
  { label, singularLabel, hierarchical = false }: TaxonomyDefinition,
): Record<string, string | null> {
  const plural = label.toLowerCase();
  const ofTree = (text: string): string | null => (hierarchical ? text : null);
  const ofList = (text: string): string | null => (hierarchical ? null : text);
  const labels: TaxonomyLabels = {
    name: label,
    singular_name: singularLabel,
    search_items: `Search ${label}`,
    popular_items: ofList(`Popular ${label}`),
    all_items: `All ${label}`,
    parent_item: ofTree(`Parent ${singularLabel}`),
    parent_item_colon: ofTree(`Parent ${singularLabel}:`),
    name_field_description: 'The name is how it appears on your site.',
    slug_field_description:
      'The &#8220;slug&#8221; is the URL-friendly version of the name. ' +
      'It is usually all lowercase and contains only letters, numbers, and hyphens.',
    parent_field_description: ofTree(
      'Assign a parent term to create a hierarchy. ' +
        'The term Jazz, for example, would be the parent of Bebop and Big Band.',
    ),
    desc_field_description: 'The description is not prominent by default; however, some themes may show it.',
    edit_item: `Edit ${singularLabel}`,
    view_item: `View ${singularLabel}`,
    update_item: `Update ${singularLabel}`,
    add_new_item: `Add ${singularLabel}`,
    new_item_name: `New ${singularLabel} Name`,
    separate_items_with_commas: ofList(`Separate ${plural} with commas`),
    add_or_remove_items: ofList(`Add or remove ${plural}`),
    choose_from_most_used: ofList(`Choose from the most used ${plural}`),
    not_found: `No ${plural} found.`,
    no_terms: `No ${plural}`,
    filter_by_item: ofTree(`Filter by ${singularLabel.toLowerCase()}`),
    items_list_navigation: `${label} list navigation`,
    items_list: `${label} list`,
    most_used: 'Most Used',
    back_to_items: `&larr; Go to ${label}`,
    item_link: `${singularLabel} Link`,
    item_link_description: `A link to a ${singularLabel.toLowerCase()}.`,
    menu_name: label,
    name_admin_bar: name,
    template_name: `${singularLabel} Archives`,
  };
  return { ...labels };
}

const required: Readonly<Record<keyof Taxonomy['capabilities'], string>> = {
  manage_terms: 'manage_categories',
  edit_terms: 'manage_categories',
  delete_terms: 'manage_categories',
  assign_terms: 'edit_posts',
};

/** As in WordPress, who has `manage_categories` edits categories and tags, and who writes posts assigns them. */
export function addTermCapabilities(hooks: Pick<HooksApi, 'addFilter'>, taxonomies: Taxonomies): void {
  const mapped = new Map<string, string>();
  for (const { capabilities } of taxonomies.all())
    for (const [operation, capability] of Object.entries(capabilities))
      mapped.set(capability, required[operation as keyof typeof required]);
  hooks.addFilter('map_meta_cap', (needed, capability) => {
    const role = mapped.get(capability);
    return role === undefined ? needed : [role];
  });
}
