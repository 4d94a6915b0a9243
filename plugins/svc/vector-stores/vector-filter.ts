export type FilterValue = string | number | boolean;

/**
 * Which vectors are meant, by their metadata: one small language for all stores, each of which has a mapper to its own.
 * A field that a vector does not have is unequal to everything, in no list, and neither above nor below anything.
 * `exists` is not known to Chroma, which refuses it with a sentence.
 */
export type VectorFilter =
  | { readonly all: readonly VectorFilter[] }
  | { readonly any: readonly VectorFilter[] }
  | { readonly field: string; readonly equals: FilterValue }
  | { readonly field: string; readonly unequal: FilterValue }
  | { readonly field: string; readonly in: readonly FilterValue[] }
  | { readonly field: string; readonly notIn: readonly FilterValue[] }
  | { readonly field: string; readonly exists: boolean }
  /** Numbers; bounds that are given hold together. `from` and `to` are inclusive. */
  | {
      readonly field: string;
      readonly from?: number;
      readonly above?: number;
      readonly to?: number;
      readonly below?: number;
    };
