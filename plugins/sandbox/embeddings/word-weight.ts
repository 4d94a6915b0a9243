import { normalizeText } from '#plugin-api';

/** Words that say nothing of a text's subject, of the languages met most often. */
const empty = new Set(
  normalizeText(
    'a about above after again against all also am an and any are as at be because been before being below ' +
      'between both but by can could did do does doing down during each either else every few for from further ' +
      'get had has have having he her here hers him his how i if in into is it its itself just let many may me ' +
      'might more most much must my myself neither no nor not now of off often on once one only or other our ' +
      'ours out over own per quite rather really same shall she should since so some such than that the their ' +
      'theirs them then there these they this those through to too two under until up upon us use used uses ' +
      'using very was we were what when where whether which while who whom whose why will with within without ' +
      'would yet you your yours yourself please tell explain describe called name named long old kind sort aber ' +
      'als am an auch auf aus bei bin bis bist da damit dann das dass dein dem den der des die dies diese dieser ' +
      'doch du durch ein eine einem einen einer eines er es euer für hat hatte hier ich ihr ihre im in ist ja ' +
      'jede jeder kann kein man mein mit muss nach nicht noch nur ob oder ohne sehr sein seine sich sie sind so ' +
      'soll um und uns unter vom von vor war was weil welche welcher wenn wer werden wie wieder wir wird wo zu ' +
      'zum zur über au aux avec ce ces cette dans de du elle elles en est et être il ils je la le les leur lui ' +
      'mais ne nous on ou où par pas pour qu que qui sa se ses son sont sur un une vous al como con de del el ' +
      'ella en era es esta este fue hay la las lo los más muy no o para pero por que se si sin sobre su sus una ' +
      'y ya',
    'NFKD',
  )
    .replace(/\p{M}/gu, '')
    .split(' '),
);

/** Words that are in most texts, and say little. */
const common = new Set(
  (
    'able add allow already always another answer area around available back based become best better big call ' +
    'case cause certain change come common complete consider contain create current day different easy end ' +
    'enough even example fact find first follow general give go good great group hand help high important ' +
    'include information keep kind know large last later least left less level life like line list little look ' +
    'made main make man mean means need never new next note number often order part people place point ' +
    'possible problem provide public put question read result right run said say second see set several show ' +
    'side simple small something start state still system take text thing think three time together top try ' +
    'turn type usually value want way well whole word work world write year'
  ).split(' '),
);

/** How much a word says about a text's subject: next to nothing for those in every text, most for rare ones and for names with digits. */
export function wordWeight(word: string): number {
  if (empty.has(word)) return 0.02;
  if (common.has(word) || word.length < 3) return 0.35;
  if (/\d/.test(word)) return 1.3;
  // Long words are rarer than short ones.
  return Math.min(0.8 + 0.06 * (word.length - 3), 1.3);
}
