import type { Target } from '../target.ts';

/**
 * `note` is information; `unknown` could not be checked; `fixed` is what a repair did. Only `problem` and `unknown` make
 * the doctor fail.
 */
export type Status = 'ok' | 'note' | 'fixed' | 'problem' | 'unknown';

/** One line of the doctor. */
export interface Finding {
  status: Status;
  message: string;
  /** Repairs a problem; returns what it did. */
  repair?: () => Promise<string>;
}

export interface CheckContext extends Target {
  /** Whether the time for this check is used up: it then says how far it came. */
  isOver(): boolean;
}

export interface Check {
  name: string;
  /** Reads only. */
  run(context: CheckContext): Promise<Finding[]>;
}

export interface CheckedWorkspace {
  id: number;
  slug: string;
  is_demo: boolean;
}

/** All workspaces, so many at a time. */
export async function* workspaceBatches(
  { database }: Pick<Target, 'database'>,
  size: number,
): AsyncGenerator<CheckedWorkspace[]> {
  let batch: CheckedWorkspace[] = [];
  do {
    batch = await database('gateway')('workspaces')
      .where('id', '>', batch.at(-1)?.id ?? 0)
      .orderBy('id')
      .limit(size)
      .select<CheckedWorkspace[]>('id', 'slug', 'is_demo');
    if (batch.length > 0) yield batch;
  } while (batch.length === size);
}

/** Milliseconds that one check may take before it stops and says how far it came. */
export const CHECK_TIME = 30_000;

export const ok = (message: string): Finding => ({ status: 'ok', message });
export const note = (message: string): Finding => ({ status: 'note', message });
export const unknown = (message: string): Finding => ({ status: 'unknown', message });
export const problem = (message: string, repair?: () => Promise<string>): Finding => ({
  status: 'problem',
  message,
  ...(repair !== undefined && { repair }),
});

/** `3 rows`, `1 row`. */
export const count = (number: number, singular: string, plural = `${singular}s`) =>
  `${number} ${number === 1 ? singular : plural}`;

/** The first few of a list: `acme, beta and 3 others`. */
export function some(names: readonly (string | number)[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length <= 5 ? shown : `${shown} and ${names.length - 5} others`;
}
