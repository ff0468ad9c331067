import { z } from 'zod';

const characters = (text: string) => [...text].length;

/** A text of at most `max` characters. */
export const boundedText = (max: number) =>
  z.string().refine((value) => characters(value) <= max, `Must be at most ${max} characters`);

/** A text that is stored trimmed, and measured so. */
export const trimmedText = (max: number) =>
  z.string().refine((value) => characters(value.trim()) <= max, `Must be at most ${max} characters`);

/** A name: stored trimmed, and not blank. */
export const nameText = (max: number) =>
  z
    .string()
    .refine((value) => value.trim() !== '', 'Must not be blank')
    .refine((value) => characters(value.trim()) <= max, `Must be at most ${max} characters`);
