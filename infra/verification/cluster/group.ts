import type { Machine } from './network.ts';

/** The machines of one engine. */
export interface Group {
  readonly name: string;
  readonly machines: readonly Machine[];
  /** For the apps, with all hosts. */
  readonly url: string;
  /** Which machine has a role now, as others than `except` say. */
  readonly roles: Readonly<Record<string, (except?: Machine) => Promise<Machine | undefined>>>;
  /** Waits until every machine works and has what the others have. */
  whole(): Promise<void>;
}
