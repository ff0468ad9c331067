import { z } from 'zod';
import { MAX_KEY } from './limits.ts';

/** White space that a text may have in addition to its maximum length if it is stored trimmed. */
const SURROUNDING_SPACE = 1_000;

const atMost = (max: number) => `Must be at most ${max} characters`;

/** Whether a text has more than `max` Unicode characters. Counts them only if the number of code units does not decide. */
export const isLongerThan = (text: string, max: number): boolean =>
  text.length > max && (text.length > 2 * max || [...text].length > max);

/** A text of at most `max` characters. No further check runs on a longer one. */
export const boundedText = (max: number) => z.string().max(max, { error: atMost(max), abort: true });

/** A text that is stored trimmed, and measured so, which JSON Schema cannot say (ADR 82). */
export const trimmedText = (max: number) =>
  z
    .string()
    .max(max + SURROUNDING_SPACE, { error: atMost(max), abort: true })
    .refine((text) => !isLongerThan(text.trim(), max), { error: atMost(max), abort: true })
    .meta({ maxLength: max, 'x-trimmed': true });

/** NFC makes one character of at most so many. */
const MAX_COMPOSED = 4;

/** A text that is stored in NFC, and measured so. */
export const composedText = (max: number) =>
  z
    .string()
    .max(MAX_COMPOSED * max, { error: atMost(max), abort: true })
    .refine((text) => !isLongerThan(text.normalize('NFC'), max), { error: atMost(max), abort: true })
    .meta({ maxLength: max });

/** An ID in another system: stored trimmed, and not blank. */
export const externalIdText = () => nameText(200);

// White space, control and format characters, others that fonts leave out, and the empty pattern of Braille.
const SHOWN_AS_NOTHING = String.raw`\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800`;
const BLANK = new RegExp(`^[${SHOWN_AS_NOTHING}]*$`, 'u');
const NOT_AN_ADDRESS = new RegExp(`[${SHOWN_AS_NOTHING}]`, 'u');

/** Whether a text shows nothing: it is empty, or has only white space and characters that are not seen. */
export const isBlank = (text: string): boolean => BLANK.test(text);

/** What the API description says of an email address (ADR 82). */
export const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** Whether a text has the form of an email address, and every character of it can be seen. */
export const isEmailAddress = (text: string): boolean => EMAIL.test(text) && !NOT_AN_ADDRESS.test(text);

/** A text that shows something. The pattern says only a part of that, of the whole text, as forms expect it (ADR 82). */
export const shownText = <Schema extends z.ZodType<string>>(schema: Schema) =>
  schema
    .refine((text) => !isBlank(text), 'Must not be blank')
    .meta({ minLength: 1, pattern: String.raw`^\s*\S[\s\S]*$` });

/** The form of the keys of statuses, severities and tiers. */
export const KEY = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** A key that must be one of the configured ones. */
export const keyText = () => boundedText(MAX_KEY).meta({ minLength: 1, pattern: KEY.source });

/** A name: stored trimmed, and not blank. */
export const nameText = (max: number) => shownText(trimmedText(max));

/** A list of at most so many values, none of them twice. */
export const uniqueList = <Value extends z.ZodType>(value: Value, max: number) =>
  z
    .array(value)
    .max(max)
    .refine((values) => new Set(values).size === values.length, 'Must not contain duplicates')
    .meta({ uniqueItems: true });
