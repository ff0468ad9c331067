import { z } from 'zod';

/** Changelog and events have larger values, as compact JSON, only as their digest (contract: Large values). */
export const MAX_VALUE_BYTES = 4_096;

/** Stands for a value that is too large for changelog and events. */
export const largeValue = z
  .strictObject({
    digest: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/)
      .meta({ description: 'SHA-256 of the value as canonical JSON (RFC 8785)' }),
    bytes: z.int().min(1).meta({ description: 'The length of that JSON in UTF-8' }),
  })
  .meta({ description: 'Stands for a value that is too large: normally one of more than 4 KiB of JSON' });

export type LargeValue = z.infer<typeof largeValue>;

export const isLargeValue = (value: unknown): value is LargeValue => largeValue.safeParse(value).success;
