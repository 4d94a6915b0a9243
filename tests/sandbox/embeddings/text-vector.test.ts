import { expect } from 'chai';
import { textVector } from '../../../plugins/sandbox/embeddings/text-vector.ts';

const vectorOf = (text: string, dimension = 1536, model = 'm'): Float32Array => textVector(text, { dimension, model });
const nearness = (left: string, right: string, dimension?: number): number => {
  const other = vectorOf(right, dimension);
  return vectorOf(left, dimension).reduce((sum, value, index) => sum + value * other[index]!, 0);
};

describe('the sandbox embedding', () => {
  it('is the same for the same text and model, and another for another model', () => {
    expect(vectorOf('The sea is salt.')).to.deep.equal(vectorOf('The sea is salt.'));
    expect(nearness('The sea is salt.', 'The sea is salt.')).to.be.closeTo(1, 1e-6);
    const other = vectorOf('The sea is salt.', 1536, 'n');
    expect(
      Math.abs(vectorOf('The sea is salt.').reduce((sum, value, index) => sum + value * other[index]!, 0)),
    ).to.be.below(0.3);
  });

  for (const dimension of [384, 768, 1536, 3072]) {
    it(`is nearer for paraphrases than for texts that have nothing in common, in ${String(dimension)} dimensions`, () => {
      const pairs = [
        ['How do I reset my password?', 'Resetting a forgotten password'],
        ['When does the shop open?', 'Opening hours of our shops'],
        ['Invoices are sent monthly', 'We send an invoice every month'],
        ['Wie kündige ich meinen Vertrag?', 'Kündigung des Vertrages'],
        ['The cat sat on the mat', 'A cat was sitting on a mat'],
      ] as const;
      for (const [text, paraphrase] of pairs) {
        for (const [, stranger] of pairs.filter(([other]) => other !== text)) {
          expect(nearness(text, paraphrase, dimension), `${text} / ${paraphrase} / ${stranger}`).to.be.above(
            nearness(text, stranger, dimension) + 0.2,
          );
        }
      }
    });
  }

  it('weighs rare words more than words that are in every text', () => {
    const question = 'What is the torque of the flywheel?';
    expect(nearness(question, 'Flywheel: tighten to a torque of 45 Nm')).to.be.above(
      3 * nearness(question, 'What is the name of the owner of the house?'),
    );
  });

  it('finds the passage a question is about among 300 that look alike', () => {
    const parts = [
      'pump',
      'valve',
      'gasket',
      'flywheel',
      'rotor',
      'bearing',
      'piston',
      'nozzle',
      'filter',
      'sensor',
      'turbine',
      'manifold',
      'gearbox',
      'clutch',
      'radiator',
    ];
    const tasks = [
      'cleaning',
      'replacing',
      'inspecting',
      'calibrating',
      'lubricating',
      'storing',
      'ordering',
      'mounting',
      'testing',
      'heating',
      'cooling',
      'painting',
      'weighing',
      'labelling',
      'recycling',
      'shipping',
      'balancing',
      'sealing',
      'welding',
      'polishing',
    ];
    const passages = parts.flatMap((part) =>
      tasks.map(
        (task) =>
          `Chapter on ${task} the ${part}. Before you start, switch off the machine and wait until it is cold. The ${part} is reached from the left side. For ${task} you need the tools of the list in the appendix. Afterwards note the date in the log book.`,
      ),
    );
    const vectors = passages.map((passage) => vectorOf(passage));
    const found = passages.filter((_, index) => {
      const query = vectorOf(
        `How do I go about ${tasks[index % tasks.length]!} a ${parts[Math.floor(index / tasks.length)]!}?`,
      );
      const scores = vectors.map((vector) => vector.reduce((sum, value, at) => sum + value * query[at]!, 0));
      return scores.filter((score) => score > scores[index]!).length < 3;
    });
    expect(found.length / passages.length).to.be.at.least(0.95);
  });

  it('has length 1 for every text, blank and foreign ones among them, in any dimension', () => {
    for (const text of ['', ' ', 'the', '…', '東京は日本の首都です', '🏖', 'a'.repeat(50_000)]) {
      for (const dimension of [1, 2, 256, 1536]) {
        expect(
          Math.sqrt(vectorOf(text, dimension).reduce((sum, value) => sum + value ** 2, 0)),
          `${text.slice(0, 10)} ${String(dimension)}`,
        ).to.be.closeTo(1, 1e-5);
      }
    }
    expect(nearness('東京は日本の首都です', '日本の首都は東京')).to.be.above(
      nearness('東京は日本の首都です', '猫が好きです') + 0.3,
    );
  });
});
