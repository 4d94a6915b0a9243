import type { ServiceContext } from '../../../wiring.ts';
import { missingSettings } from '../../../settings/configured.ts';
import { providerChoices } from '../../../admin-ui/model-choices.ts';
import type { Choice, FieldSpec } from '../../../admin-ui/setting-field.ts';
import { aiParamSchemas } from '../../../kit/ai-params.ts';

/** A part of the editor below the fields and the prompt. */
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
    help: 'Visitors see it above the form.',
  },
  {
    path: 'status',
    type: 'select',
    label: 'Status',
    options: [
      { value: 'active', label: 'Active: it is shown' },
      { value: 'inactive', label: 'Inactive: nobody sees it' },
    ],
  },
  {
    path: 'intro',
    type: 'textarea',
    label: 'Text above the fields',
    rows: 2,
    help: 'A blank line begins a paragraph.',
  },
];

const promptFields: readonly FieldSpec[] = [
  { path: 'prompt', type: 'textarea', label: 'Prompt', rows: 10, mono: true, required: true },
  {
    path: 'instructions',
    type: 'textarea',
    label: 'Instructions for the model',
    rows: 5,
    help: 'Who it is, how it writes, what it must not do. [date] becomes the date of today, [username] the name of the visitor, or Guest.',
  },
];

/** What there is to set, with what there is to choose from now. */
export async function editorSpecs(context: ServiceContext): Promise<EditorSpecs> {
  const [providers, embeddingProviders, stores, bases] = await Promise.all([
    providerChoices(context, 'text'),
    providerChoices(context, 'embeddings'),
    storeChoices(context),
    context.knowledgeBases(),
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

/** Every field there is. */
export function allFields({ form, prompt, sections }: EditorSpecs): FieldSpec[] {
  return [...form, ...prompt, ...sections.flatMap(({ groups }) => groups.flatMap(({ fields }) => fields))];
}

function modelSection(providers: readonly Choice[]): Section {
  const efforts = aiParamSchemas.reasoning_effort.enum.map((value) => ({ value, label: value }));
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
            placeholder: "The provider's saved one",
          },
        ],
      },
      {
        title: 'Parameters',
        fields: [
          {
            path: 'parameters.max_completion_tokens',
            type: 'number',
            label: 'Longest answer, in tokens',
            min: 1,
            max: 128_000,
            short: true,
            help: 'About four letters a token. Default 4,000.',
          },
          number('temperature', 'Temperature, 0 to 2', [0, 2]),
          number('top_p', 'Top p, 0 to 1', [0, 1]),
          number('frequency_penalty', 'Against repeating words, -2 to 2', [-2, 2]),
          number('presence_penalty', 'Towards new subjects, -2 to 2', [-2, 2]),
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
    help: 'The texts of a knowledge base that are most like the filled-in prompt are handed to the model.',
    groups: [
      {
        wide: true,
        fields: [
          { path: 'knowledge.enabled', type: 'switch', label: 'Answer from a knowledge base' },
          {
            path: 'knowledge.base',
            type: 'select',
            numeric: true,
            label: 'Knowledge base',
            options: [{ value: '0', label: 'None: the vector store below' }, ...bases],
            ...(bases.length === 0 && {
              help: 'There is none yet: make one on the page "Knowledge". Or name a vector store below.',
            }),
          },
        ],
      },
      {
        title: 'A vector store of your own, in place of a knowledge base',
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
            help: 'Of Pinecone; empty for the default one.',
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
      },
      {
        title: 'How many',
        fields: [
          {
            path: 'knowledge.top_k',
            type: 'number',
            label: 'Most texts',
            min: 1,
            max: 20,
            short: true,
            help: '1 to 20, default 3.',
          },
          {
            path: 'knowledge.min_score',
            type: 'number',
            label: 'Least likeness, in percent',
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

const answerSection: Section = {
  id: 'answer',
  title: 'Texts and answer',
  groups: [
    {
      fields: [
        { path: 'texts.submit', type: 'text', label: 'Button', placeholder: 'Generate' },
        { path: 'texts.working', type: 'text', label: 'While it is answered', placeholder: 'Writing…' },
        { path: 'texts.result', type: 'text', label: 'Above the answer', placeholder: 'Result' },
        { path: 'texts.again', type: 'text', label: 'For another answer', placeholder: 'Generate again' },
        {
          path: 'texts.error',
          type: 'text',
          label: 'When it fails',
          help: 'Visitors read this; administrators read the reason.',
        },
      ],
    },
    {
      title: 'Visitors may',
      fields: [
        { path: 'result.copy', type: 'switch', label: 'Copy the answer' },
        { path: 'result.download', type: 'switch', label: 'Download it', help: 'As Markdown, text or HTML.' },
        {
          path: 'result.save_as_post',
          type: 'switch',
          label: 'Save it as a post',
          help: 'A draft; signed-in users who may write posts, on this site.',
        },
      ],
    },
  ],
};

const limitsSection: Section = {
  id: 'limits',
  title: 'Limits',
  help: "Answers for one visitor, counted by the site's time zone; weeks begin on Monday. 0 or nothing: no limit. Failures do not count.",
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
        { path: 'consent.text', type: 'textarea', label: 'Text beside the box', rows: 2 },
        {
          path: 'privacy.keep',
          type: 'switch',
          label: 'Keep submissions',
          help: 'Off: neither fields nor answers are stored, only that there was a submission. Files are never kept.',
        },
        {
          path: 'privacy.retention_days',
          type: 'number',
          label: 'Days they are kept',
          min: 0,
          max: 36_500,
          short: true,
          help: '0: for ever.',
        },
      ],
    },
  ],
};

const embedSection: Section = {
  id: 'embed',
  title: 'Put it on a page',
  help: 'On this site, or on any other.',
  groups: [
    {
      wide: true,
      fields: [
        { path: 'embed.enabled', type: 'switch', label: 'May be shown', help: 'Off: no page shows it.' },
        {
          path: 'embed.allowed_domains',
          type: 'lines',
          label: 'Allowed domains',
          rows: 4,
          mono: true,
          placeholder: 'example.com\n*.example.com',
          help: 'One a line. *.example.com stands for all its subdomains. Empty: this site alone.',
        },
        {
          path: 'embed.any_site',
          type: 'switch',
          label: 'Any site',
          help: 'Everybody may put this form on their site, and you pay for the answers. Set limits before you switch this on.',
        },
      ],
    },
  ],
};

async function storeChoices({ vectorStores, vectorStoreSettings }: ServiceContext): Promise<Choice[]> {
  return Promise.all(
    vectorStores.all().map(async (store) => {
      const missing = missingSettings(store, await vectorStoreSettings.effective(store.id));
      return { value: store.id, label: missing.length === 0 ? store.label : `${store.label} (not set up)` };
    }),
  );
}
