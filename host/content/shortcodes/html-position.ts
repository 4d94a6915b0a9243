/**
 * Follows a text of HTML piece by piece, and tells whether its end stands inside a tag: what is put there becomes part of an
 * attribute and must not be able to end it.
 */
export function createHtmlPosition(): { advance(piece: string): void; isInsideTag(): boolean } {
  let isInside = false;
  let quote = '';
  const step = (character: string, next: string): void => {
    if (!isInside) isInside = character === '<' && /[a-z/!?]/i.test(next);
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '>') isInside = false;
  };
  return {
    advance(piece) {
      for (let index = 0; index < piece.length; index += 1) step(piece.charAt(index), piece.charAt(index + 1));
    },
    isInsideTag: () => isInside,
  };
}
