/** A call that cannot be understood, or that lacks what it takes. */
export class UsageError extends Error {}
