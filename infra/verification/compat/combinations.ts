import { APP_NAMES, type AppName } from '../../apps.ts';
import type { ReleaseName } from './release.ts';

/** Which release each app runs. */
export type Assignment = Readonly<Record<AppName, ReleaseName>>;

export interface Combination {
  name: string;
  releases: Assignment;
  /** Whether each app has a second process, of the other release. */
  beside: boolean;
  /**
   * The combinations of one phase share the names on the broker and in Redis. In the first phase the old release creates
   * them, in the second the new one.
   */
  phase: 1 | 2;
}

const all = (release: ReleaseName): Assignment =>
  Object.fromEntries(APP_NAMES.map((app) => [app, release])) as Record<AppName, ReleaseName>;

const phase = (number: 1 | 2, others: ReleaseName, one: ReleaseName): Combination[] => [
  { name: `all ${others}`, releases: all(others), beside: false, phase: number },
  ...APP_NAMES.map((app) => ({
    name: `${app} ${one}, others ${others}`,
    releases: { ...all(others), [app]: one },
    beside: false,
    phase: number,
  })),
  { name: `all ${others}, ${one} beside`, releases: all(others), beside: true, phase: number },
];

/** In the order of a run: neighbours differ in two apps, so that few processes have to be replaced. */
export const COMBINATIONS: readonly Combination[] = [...phase(1, 'old', 'new'), ...phase(2, 'new', 'old')];
