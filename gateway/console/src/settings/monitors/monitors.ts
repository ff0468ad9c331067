import type { Options } from '../../ui/fields.tsx';
import { withOwnAddress } from '../own-address.ts';
import alertmanager from './alertmanager.yml?raw';
import azure from './azure.txt?raw';
import curl from './curl.sh?raw';
import datadog from './datadog.txt?raw';
import gatus from './gatus.yml?raw';
import grafana from './grafana.yml?raw';
import pagerduty from './pagerduty.sh?raw';
import sentry from './sentry.txt?raw';
import uptimeKuma from './uptime-kuma.txt?raw';

/** The configurations of docs/guides/alerts.md. */
const CONFIGURATIONS = {
  alertmanager: ['Alertmanager', alertmanager],
  grafana: ['Grafana', grafana],
  'uptime-kuma': ['Uptime Kuma', uptimeKuma],
  gatus: ['Gatus', gatus],
  datadog: ['Datadog', datadog],
  sentry: ['Sentry', sentry],
  azure: ['Azure Monitor', azure],
  pagerduty: ['PagerDuty format', pagerduty],
  curl: ['curl', curl],
} as const;

export type Monitor = keyof typeof CONFIGURATIONS;

export const isMonitor = (value: unknown): value is Monitor =>
  typeof value === 'string' && Object.hasOwn(CONFIGURATIONS, value);

export const MONITORS = Object.entries(CONFIGURATIONS).map(([key, [name]]) => [
  key,
  name,
]) as Options as Options<Monitor>;

export const nameOfMonitor = (monitor: Monitor): string => CONFIGURATIONS[monitor][0];

/** The configuration of a monitor for the workspace at this origin; `tcs_…` stands for the token. */
export const configurationFor = (monitor: Monitor, origin: Pick<URL, 'protocol' | 'host'>): string =>
  withOwnAddress(CONFIGURATIONS[monitor][1].trimEnd(), origin);
