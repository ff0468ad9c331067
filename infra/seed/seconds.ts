/** Since a time of `performance.now()`, for people. */
export const secondsSince = (started: number) => `${((performance.now() - started) / 1_000).toFixed(1)} s`;
