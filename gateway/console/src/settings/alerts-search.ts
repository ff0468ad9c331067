import type { AlertNotification } from '@tocsin/sdk';

export type Outcome = AlertNotification['outcome'];

/** What is shown of the notifications. */
export interface NotificationFilter {
  outcome?: Outcome;
  key?: number;
}

/** What the page shows, as the address has it. */
export interface AlertsSearch extends NotificationFilter {
  /** Of the page's own; it knows whether there is one of this name. */
  monitor?: string;
}

/** What becomes of notifications, and how it looks. */
export const OUTCOMES = new Map<Outcome, 'good' | 'warn' | 'bad' | 'plain'>([
  ['declared', 'warn'],
  ['reopened', 'warn'],
  ['collected', 'warn'],
  ['closed_by_person', 'bad'],
  ['added', 'plain'],
  ['ended', 'good'],
  ['unchanged', 'plain'],
  ['refused', 'bad'],
]);

/** Anybody may write an address: what it does not understand is left out. */
export const readAlertsSearch = ({ monitor, outcome, key }: Record<string, unknown>): AlertsSearch => ({
  ...(typeof monitor === 'string' && { monitor }),
  ...(OUTCOMES.has(outcome as Outcome) && { outcome: outcome as Outcome }),
  ...(typeof key === 'number' && { key }),
});
