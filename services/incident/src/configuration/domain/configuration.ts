/**
 * `configuration` is how a workspace is set up: statuses, severities, roles, exchange rates, time zone, and the template
 * of post-mortems. A workspace that has set nothing has the defaults below (contract: Configuration). Requests read a copy
 * that each process keeps by the version of the workspace, which every request carries and every change raises. A write
 * that depends on the lists must not miss a change in between: before it locks an incident, it holds the row of the
 * workspace's counter against changes (`lockConfiguration`), and compares the version; a create compares it in its only
 * statement. Another version is a `Retry`, and the checks are made again. `domain/` also reads documents of a
 * configuration; `configuration-changes` stores them.
 */
import { invalidRequest } from '@tocsin/http';
import { UTC } from '@tocsin/runtime';
import type { ExchangeRates } from './exchange-rates.ts';

export interface WorkflowStatus {
  key: string;
  label: string;
  order: number;
  isDefault: boolean;
  isTerminal: boolean;
  isEscalationThreshold: boolean;
  color: string;
}

export interface Severity {
  key: string;
  label: string;
  order: number;
  isDefault: boolean;
  minScore: number;
  /** Whether new incidents with it are restricted unless a request says otherwise; absent: no. */
  restricted?: boolean;
  description: string;
  color: string;
}

/** What somebody does in a response, beside its manager and responders. */
export interface IncidentRole {
  key: string;
  label: string;
  description: string;
  severalHolders: boolean;
}

/** A workspace's configuration of incidents: statuses in workflow order, severities with the most severe first. */
export interface Configuration {
  /** Counts the changes; 0 if the workspace was never configured. */
  version: number;
  statuses: readonly WorkflowStatus[];
  severities: readonly Severity[];
  incidentRoles: readonly IncidentRole[];
  exchangeRates: ExchangeRates;
  /** As it was configured; use it as `knownTimeZone`. */
  timeZone: string;
  onCallLead: OnCallLead;
}

/** Whether who is on call for the team of a new incident leads it: never, if the declarer agrees, or always. */
export const ON_CALL_LEADS = ['off', 'suggest', 'set'] as const;
export type OnCallLead = (typeof ON_CALL_LEADS)[number];

/** The statuses that lifecycle operations set; every workspace's configuration contains them. */
export const LIFECYCLE_STATUSES = { resolve: 'resolved', close: 'closed', reopen: 'active' } as const;

const status = (key: string, label: string, order: number, color: string): WorkflowStatus => ({
  key,
  label,
  order,
  color,
  isDefault: key === 'open',
  isTerminal: key === 'resolved' || key === 'closed',
  isEscalationThreshold: false,
});

const severity = (key: string, label: string, order: number, minScore: number, color: string): Severity => ({
  key,
  label,
  order,
  minScore,
  color,
  isDefault: key === 'sev3',
  restricted: false,
  description: '',
});

/** The configuration of a workspace that was never configured (contract: Configuration). */
export const DEFAULT_CONFIGURATION: Configuration = {
  version: 0,
  statuses: [
    status('open', 'Open', 0, '#d92d20'),
    status('active', 'Active', 1, '#f79009'),
    status('on-hold', 'On hold', 2, '#667085'),
    status('monitoring', 'Monitoring', 3, '#2e90fa'),
    status('resolved', 'Resolved', 4, '#12b76a'),
    status('closed', 'Closed', 5, '#475467'),
  ],
  severities: [
    severity('sev1', 'SEV 1', 0, 90, '#d92d20'),
    severity('sev2', 'SEV 2', 1, 70, '#f79009'),
    severity('sev3', 'SEV 3', 2, 40, '#fdb022'),
    severity('sev4', 'SEV 4', 3, 0, '#667085'),
  ],
  incidentRoles: [],
  exchangeRates: new Map(),
  timeZone: UTC,
  onCallLead: 'off',
};

/** Returns the entry with the key, or the default entry without one. @throws DomainError `invalid_request` naming `field` */
export function selectEntry<Entry extends { key: string; isDefault: boolean }>(
  entries: readonly Entry[],
  key: string | undefined,
  field: string,
): Entry {
  const entry = entries.find((candidate) => (key === undefined ? candidate.isDefault : candidate.key === key));
  if (entry === undefined)
    throw invalidRequest(field, `Must be one of ${entries.map((candidate) => candidate.key).join(', ')}`);
  return entry;
}
