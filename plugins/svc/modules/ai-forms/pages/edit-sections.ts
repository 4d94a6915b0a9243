import type { AiForms } from '../ai-forms.ts';
import { missingSettings } from '../../../settings/configured.ts';
import { providerChoices } from '../../../admin-ui/model-choices.ts';
import type { Choice, FieldSpec } from '../../../admin-ui/setting-field.ts';
import { aiParamSchemas } from '../../../kit/ai-params.ts';

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly help?: string;
  readonly groups: readonly {
    readonly title?: string;
    readonly wide?: boolean;
    readonly fields: readonly FieldSpec[];
  }[];
}

export interface EditorSpecs {
  readonly form: readonly FieldSpec[];
  readonly prompt: readonly FieldSpec[];
  readonly sections: readonly Section[];
}

const formFields: readonly FieldSpec[] = [
  {
    path: 'name',
    type: 'text',
    label: 'Name',
    required: true,
    maxlength: 200,
    help: 'Shown above the form.',
  },
  {
    path: 'status',
    type: 'select',
    label: 'Status',
    help: 'Visitors cannot see an inactive form.',
    options: [
      { value: 'active', label: 'Active' },
      { value: 'inactive', label: 'Inactive' },
    ],
  },
  {
    path: 'intro',
    type: 'textarea',
    label: 'Text above the fields',
    rows: 2,
    help: 'A blank line starts a new paragraph.',
  },
];

const promptFields: readonly FieldSpec[] = [
  { path: 'prompt', type: 'textarea', label: 'Prompt', rows: 10, mono: true, required: true },
  {
    path: 'instructions',
    type: 'textarea',
    label: 'Instructions for the model',
    rows: 5,
    help: 'Describe the role, the style and what to avoid. [date] inserts today’s date, [username] the visitor’s name or Guest.',
  },
];

/** The fields with the current choices. */
export async function editorSpecs(parts: AiForms): Promise<EditorSpecs> {
  const [providers, embeddingProviders, stores, bases] = await Promise.all([
    providerChoices(parts, 'text'),
    providerChoices(parts, 'embeddings'),
    storeChoices(parts),
    parts.knowledgeBases(),
  ]);
  const knowledge = knowledgeSection({
    embeddingProviders,
    stores,
    bases: bases.map(({ id, name }) => ({ value: String(id), label: name })),
  });
  return {
    form: formFields,
    prompt: promptFields,
    sections: [modelSection(providers), knowledge, answerSection, limitsSection, privacySection, embedSection],
  };
}

export function allFields({ form, prompt, sections }: EditorSpecs): FieldSpec[] {
  return [...form, ...prompt, ...sections.flatMap(({ groups }) => groups.flatMap(({ fields }) => fields))];
}

function modelSection(providers: readonly Choice[]): Section {
  const efforts = aiParamSchemas.reasoning_effort.enum.map((value) => ({
    value,
    label: value.replace(/^./, (letter) => letter.toUpperCase()),
  }));
  const number = (name: string, label: string, range: readonly [number, number]): FieldSpec => ({
    path: `parameters.${name}`,
    type: 'number',
    label,
    min: range[0],
    max: range[1],
    step: 'any',
    short: true,
    placeholder: 'Default',
  });
  return {
    id: 'model',
    title: 'Model',
    groups: [
      {
        fields: [
          { path: 'provider', type: 'select', label: 'Provider', options: providers },
          {
            path: 'model',
            type: 'text',
            label: 'Model',
            mono: true,
            list: 'models-text',
            placeholder: 'Saved model of the provider',
          },
        ],
      },
      {
        title: 'Parameters',
        fields: [
          {
            path: 'parameters.max_completion_tokens',
            type: 'number',
            label: 'Maximum response length, in tokens',
            min: 1,
            max: 128_000,
            short: true,
            help: 'A token is about four characters. Default 4,000.',
          },
          number('temperature', 'Temperature (0 to 2)', [0, 2]),
          number('top_p', 'Top p (0 to 1)', [0, 1]),
          number('frequency_penalty', 'Frequency penalty (-2 to 2)', [-2, 2]),
          number('presence_penalty', 'Presence penalty (-2 to 2)', [-2, 2]),
          {
            path: 'parameters.reasoning_effort',
            type: 'select',
            label: 'Reasoning effort',
            options: [{ value: '', label: 'Default' }, ...efforts],
          },
        ],
      },
    ],
  };
}

function knowledgeSection({
  bases,
  stores,
  embeddingProviders,
}: Readonly<Record<'bases' | 'stores' | 'embeddingProviders', readonly Choice[]>>): Section {
  return {
    id: 'knowledge',
    title: 'Knowledge',
    help: 'The passages of a knowledge base that best match the prompt are added to the request.',
    groups: [
      {
        wide: true,
        fields: [
          { path: 'knowledge.enabled', type: 'switch', label: 'Use a knowledge base' },
          {
            path: 'knowledge.base',
            type: 'select',
            numeric: true,
            label: 'Knowledge base',
            options: [{ value: '0', label: 'None (use the vector store below)' }, ...bases],
            ...(bases.length === 0 && {
              help: 'No knowledge bases yet. Create one under Knowledge, or choose a vector store below.',
            }),
          },
        ],
      },
      vectorStoreGroup(stores, embeddingProviders),
      {
        title: 'Passages',
        fields: [
          {
            path: 'knowledge.top_k',
            type: 'number',
            label: 'Maximum passages',
            min: 1,
            max: 20,
            short: true,
            help: '1 to 20. Default 3.',
          },
          {
            path: 'knowledge.min_score',
            type: 'number',
            label: 'Minimum score (%)',
            min: 0,
            max: 100,
            short: true,
            help: 'Default 20.',
          },
          { path: 'knowledge.show_sources', type: 'switch', label: 'Show sources' },
        ],
      },
    ],
  };
}

function vectorStoreGroup(stores: readonly Choice[], embeddingProviders: readonly Choice[]): Section['groups'][number] {
  return {
    title: 'Vector store, instead of a knowledge base',
    fields: [
      {
        path: 'knowledge.store',
        type: 'select',
        label: 'Vector store',
        options: [{ value: '', label: 'None' }, ...stores],
      },
      { path: 'knowledge.target', type: 'text', label: 'Index or collection', mono: true },
      {
        path: 'knowledge.namespace',
        type: 'text',
        label: 'Namespace',
        mono: true,
        help: 'For Pinecone. Leave empty to use the default namespace.',
      },
      {
        path: 'knowledge.embedding_provider',
        type: 'select',
        label: 'Embedding provider',
        options: [{ value: '', label: 'None' }, ...embeddingProviders],
      },
      {
        path: 'knowledge.embedding_model',
        type: 'text',
        label: 'Embedding model',
        mono: true,
        list: 'models-embedding',
        placeholder: 'text-embedding-3-small',
      },
    ],
  };
}

const answerSection: Section = {
  id: 'answer',
  title: 'Texts and response',
  groups: [
    {
      fields: [
        { path: 'texts.submit', type: 'text', label: 'Button', placeholder: 'Generate' },
        { path: 'texts.working', type: 'text', label: 'While generating', placeholder: 'Writing…' },
        { path: 'texts.result', type: 'text', label: 'Above the response', placeholder: 'Result' },
        { path: 'texts.again', type: 'text', label: 'Generate again', placeholder: 'Generate again' },
        {
          path: 'texts.error',
          type: 'text',
          label: 'Error message',
          help: 'Shown to visitors. Administrators see the reason.',
        },
      ],
    },
    {
      title: 'Visitors may',
      fields: [
        { path: 'result.copy', type: 'switch', label: 'Copy the response' },
        { path: 'result.download', type: 'switch', label: 'Download the response', help: 'As Markdown, text or HTML.' },
        {
          path: 'result.save_as_post',
          type: 'switch',
          label: 'Save the response as a post',
          help: 'Saves a draft. For signed-in users of this site who can write posts.',
        },
      ],
    },
  ],
};

const limitsSection: Section = {
  id: 'limits',
  title: 'Limits',
  help: 'Responses per visitor, in the site’s time zone. Weeks start on Monday. Enter 0 for no limit. Failures do not count.',
  groups: [
    { wide: true, fields: [{ path: 'limits.message', type: 'textarea', label: 'Message at the limit', rows: 2 }] },
  ],
};

const privacySection: Section = {
  id: 'privacy',
  title: 'Consent and privacy',
  groups: [
    {
      wide: true,
      fields: [
        { path: 'consent.required', type: 'switch', label: 'Ask for consent' },
        { path: 'consent.text', type: 'textarea', label: 'Text of the checkbox', rows: 2 },
        {
          path: 'privacy.keep',
          type: 'switch',
          label: 'Store submissions',
          help:
            'If off, fields and responses are not stored, only the fact of a submission. Bodies of webhook events are ' +
            'deleted after their last delivery. Files are never stored.',
        },
        {
          path: 'privacy.retention_days',
          type: 'number',
          label: 'Delete after (days)',
          min: 0,
          max: 36_500,
          short: true,
          help: 'Enter 0 to keep submissions forever.',
        },
      ],
    },
  ],
};

const embedSection: Section = {
  id: 'embed',
  title: 'Embed',
  help: 'Show the form on this site or on other sites.',
  groups: [
    {
      wide: true,
      fields: [
        { path: 'embed.enabled', type: 'switch', label: 'Allow embedding', help: 'If off, no page shows the form.' },
        {
          path: 'embed.allowed_domains',
          type: 'lines',
          label: 'Allowed domains',
          rows: 4,
          mono: true,
          placeholder: 'example.com\n*.example.com',
          help: 'One domain per line. *.example.com matches all subdomains. Leave empty to allow this site only.',
        },
        {
          path: 'embed.any_site',
          type: 'switch',
          label: 'Any site',
          help: 'Anyone can embed this form, and you pay for the responses. Set limits before you turn this on.',
        },
      ],
    },
  ],
};

async function storeChoices({ vectorStores, vectorStoreSettings }: AiForms): Promise<Choice[]> {
  return Promise.all(
    vectorStores.all().map(async (store) => {
      const missing = missingSettings(store, await vectorStoreSettings.effective(store.id));
      return { value: store.id, label: missing.length === 0 ? store.label : `${store.label} (not configured)` };
    }),
  );
}
