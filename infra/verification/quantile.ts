/** Returns the smallest of the numbers that a share of them does not exceed, 0 of none. */
export const quantile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * numbers.length) - 1)] ?? 0;
