/** Percentages of the code that the tests run. */
export interface Coverage {
  readonly lines: number;
  readonly branches: number;
  readonly functions: number;
}

export const measures = ['lines', 'branches', 'functions'] as const satisfies readonly (keyof Coverage)[];

/** Percentage points below a measured value: timing decides whether a few branches run. */
const margin = 0.3;

/** One sentence for each measure that is below the floor. */
export function belowFloor(measured: Coverage, floor: Coverage): readonly string[] {
  return measures
    .filter((name) => measured[name] < floor[name])
    .map(
      (name) =>
        `Coverage of ${name} fell to ${measured[name].toFixed(2)} %, below the floor of ${floor[name].toFixed(1)} %. ` +
        'Add tests for the new code.',
    );
}

/** The floor that the measured values allow. It never falls. */
export function raiseFloor(measured: Coverage, floor: Coverage): Coverage {
  const raised = (name: keyof Coverage): number =>
    Math.max(floor[name], Math.floor((measured[name] - margin) * 10) / 10);
  return { lines: raised('lines'), branches: raised('branches'), functions: raised('functions') };
}

/** The measures whose floor is lower in a later version than in an earlier one. Versions are oldest first. */
export function loweredFloors(versions: readonly Coverage[]): readonly (keyof Coverage)[] {
  return measures.filter((name) =>
    versions.some((version, index) => index > 0 && version[name] < (versions[index - 1]?.[name] ?? 0)),
  );
}
