import { gone } from './gone.ts'; // no-unresolvable

export const sessions = gone;
