/** What came out wrong: the id of the data, and what was expected or said. */
export interface Fault {
  readonly id: string;
  readonly reason: string;
}

/** One figure: how many of the things that were tried came out right. */
export interface Row {
  readonly name: string;
  readonly right: number;
  readonly of: number;
  readonly faults: readonly Fault[];
}

/** A figure in the making. */
export interface Measure {
  /** Counts one try. @param reason null when it came out right */
  add(id: string, reason: string | null): void;
  row(): Row;
}

export function createMeasure(name: string): Measure {
  const faults: Fault[] = [];
  let of = 0;
  return {
    add(id, reason) {
      of += 1;
      if (reason !== null) faults.push({ id, reason });
    },
    row: () => ({ name, right: of - faults.length, of, faults }),
  };
}

/** One kind of data, tried on the product through the doors of its users. */
export interface Kind {
  readonly title: string;
  /** @param folder the data; '' for a kind that brings its own inputs */
  run(folder: string): Promise<readonly Row[]>;
}

/** Percent with two digits, cut, so that nothing that is short of a floor looks as if it reached it. */
export const share = ({ right, of }: Pick<Row, 'right' | 'of'>): number =>
  of === 0 ? 0 : Math.floor((right / of) * 10_000) / 100;
