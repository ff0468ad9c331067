/** @param sorted numbers in ascending order; @returns the smallest one that a share of them does not exceed, 0 of none */
export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
