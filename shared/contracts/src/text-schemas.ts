import { z } from 'zod';

/** White space that a text may have in addition to its maximum length if it is stored trimmed. */
const SURROUNDING_SPACE = 1_000;

const atMost = (max: number) => `Must be at most ${max} characters`;

/** Whether a text has more than `max` Unicode characters. Counts them only if the number of code units does not decide. */
export const isLongerThan = (text: string, max: number): boolean =>
  text.length > max && (text.length > 2 * max || [...text].length > max);

/** A text of at most `max` characters. No further check runs on a longer one. */
export const boundedText = (max: number) => z.string().max(max, { error: atMost(max), abort: true });

/** A text that is stored trimmed, and measured so. */
export const trimmedText = (max: number) =>
  z
    .string()
    .max(max + SURROUNDING_SPACE, { error: atMost(max), abort: true })
    .refine((text) => !isLongerThan(text.trim(), max), { error: atMost(max), abort: true })
    .meta({ maxLength: max });

/** An ID in another system: stored trimmed, and not blank. */
export const externalIdText = () => nameText(200);

/** A name: stored trimmed, and not blank. */
export const nameText = (max: number) => trimmedText(max).refine((text) => text.trim() !== '', 'Must not be blank');
