import type { PdfTextLine } from '../helpers/make-pdf.ts';

/** A question about the document, and words of the one passage that answers it. */
export interface KnownAnswer {
  readonly question: string;
  readonly holds: string;
  /** From 1. */
  readonly page: number;
}

const facts: readonly (readonly [question: string, sentence: string, holds: string])[] = [
  [
    'How often must the boiler of the ferry be descaled?',
    'The boiler of the ferry must be descaled every ninety days.',
    'descaled every ninety days',
  ],
  [
    'Who invented the reversing gear of the tram?',
    'The reversing gear of the tram was invented by Agnes Thornbury in 1911.',
    'Agnes Thornbury',
  ],
  [
    'What does a licence for keeping falcons cost?',
    'A licence for keeping falcons costs forty-two crowns a year.',
    'forty-two crowns',
  ],
  [
    'Which colour does the harbour flag have during a storm?',
    'During a storm the harbour flag is violet with a white cross.',
    'violet with a white cross',
  ],
  [
    'How many bells hang in the tower of Saint Odile?',
    'In the tower of Saint Odile hang eleven bells.',
    'eleven bells',
  ],
  [
    'What is the largest weight the cable crane lifts?',
    'The cable crane lifts a weight of at most 780 kilograms.',
    '780 kilograms',
  ],
  [
    'When does the night market on the quay close?',
    'The night market on the quay closes at half past three.',
    'half past three',
  ],
  [
    'Which oil goes into the gearbox of the mill?',
    'Only rapeseed oil goes into the gearbox of the mill.',
    'rapeseed oil',
  ],
  ['How long is the tunnel below the glacier?', 'The tunnel below the glacier is 6,412 metres long.', '6,412 metres'],
  [
    'Where are the spare keys of the observatory kept?',
    'The spare keys of the observatory are kept in the pharmacy opposite.',
    'pharmacy opposite',
  ],
  ['What is the password of the beekeepers?', 'The password of the beekeepers is marzipan.', 'marzipan'],
  [
    'How deep is the well in the monastery garden?',
    'The well in the monastery garden is thirty-one fathoms deep.',
    'thirty-one fathoms',
  ],
  ['Which train stops at the saltworks on Sundays?', 'On Sundays only train 417 stops at the saltworks.', 'train 417'],
  [
    'Who repairs the organ of the town hall?',
    'The organ of the town hall is repaired by the Vandermeer brothers.',
    'Vandermeer brothers',
  ],
  [
    'What temperature does the cheese cellar need?',
    'The cheese cellar needs a temperature of exactly nine degrees.',
    'nine degrees',
  ],
  ['How many pages did the lost atlas have?', 'The lost atlas had 1,204 pages and no index.', '1,204 pages'],
  [
    'What must divers carry in the flooded quarry?',
    'In the flooded quarry divers must carry two lamps and a whistle.',
    'two lamps and a whistle',
  ],
  [
    'Which tree stands before the customs house?',
    'Before the customs house stands a ginkgo planted in 1799.',
    'ginkgo planted',
  ],
  [
    'How is the drawbridge opened when the power fails?',
    'When the power fails the drawbridge is opened by a capstan with four bars.',
    'capstan with four bars',
  ],
  [
    'What fine is charged for ringing the fog horn without need?',
    'For ringing the fog horn without need a fine of seventeen ducats is charged.',
    'seventeen ducats',
  ],
];

const nouns = [
  'ledger',
  'warehouse',
  'council',
  'orchard',
  'canal',
  'workshop',
  'lantern',
  'barge',
  'weaver',
  'granary',
  'clerk',
  'pavement',
  'courtyard',
  'reservoir',
  'gazette',
  'quarter',
  'guild',
  'meadow',
  'archive',
  'terrace',
  'inspector',
  'vineyard',
  'parish',
  'treasury',
];
const verbs = [
  'records',
  'surveys',
  'maintains',
  'describes',
  'counts',
  'borders',
  'supplies',
  'inherits',
  'measures',
  'governs',
  'replaces',
  'crosses',
  'protects',
  'neglects',
  'rebuilds',
];
const ends = [
  'in the early spring',
  'without much notice',
  'according to the old statutes',
  'before the harvest is brought in',
  'for the whole of the district',
  'as the registers of that year show',
  'beyond the second gate',
  'whenever the river permits it',
];

export const answers: readonly KnownAnswer[] = facts.map(([question, , holds], at) => ({
  question,
  holds,
  page: pageOf(at),
}));

function pageOf(fact: number): number {
  return 8 + fact * 14;
}

/** The lines of each page of a handbook, and its twenty facts far from each other. @param rename another heading for one page */
export function longDocument(pages: number, rename: Readonly<Record<number, string>> = {}): PdfTextLine[][] {
  let seed = 20_261_121;
  const pick = <Item>(list: readonly Item[]): Item => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return list[Math.floor((seed / 2_147_483_648) * list.length)] as Item;
  };
  const sentence = (): string =>
    `The ${pick(nouns)} of the ${pick(nouns)} ${pick(verbs)} the ${pick(nouns)} ${pick(ends)}.`;
  return Array.from({ length: pages }, (_, at) => {
    const number = at + 1;
    const fact = facts.find((_fact, place) => pageOf(place) === number);
    const sentences = Array.from({ length: 26 }, sentence);
    if (fact !== undefined) sentences.splice(13, 0, fact[1]);
    const heading = `Section ${String(number)}: the ${pick(nouns)} and the ${pick(nouns)}`;
    return [
      ...(at % 20 === 0 ? [{ text: `Part ${String(at / 20 + 1)}`, size: 22, gap: 10 }] : []),
      { text: rename[number] ?? heading, size: 15, gap: 12 },
      ...sentences.map((text, place) => ({ text, gap: place % 7 === 0 ? 18 : 3 })),
    ];
  });
}
