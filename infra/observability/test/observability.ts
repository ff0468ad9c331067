import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../../installation/environment.ts';

export const OBSERVABILITY = path.join(ROOT, 'infra/observability');

/** A rule of Prometheus: it records a metric, or it is an alarm. */
interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface Alarm extends Rule {
  alert: string;
}

export function readRules(): { recorded: Map<string, string>; alarms: Alarm[] } {
  const { groups } = parse(readFileSync(path.join(OBSERVABILITY, 'rules.yaml'), 'utf8')) as {
    groups: { name: string; rules: Rule[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  return {
    recorded: new Map(rules.flatMap(({ record, expr }) => (record === undefined ? [] : [[record, expr]]))),
    alarms: rules.filter((rule): rule is Alarm => rule.alert !== undefined),
  };
}

/** A panel of a Grafana dashboard, as far as tests look at it. */
interface Panel {
  type: string;
  title: string;
  description?: string;
  targets?: { expr: string; refId: string }[];
}

interface Dashboard {
  panels: Panel[];
  templating: { list: { name: string; type: string; query: string | { query: string } }[] };
}

export const readDashboard = (): Dashboard =>
  JSON.parse(readFileSync(path.join(OBSERVABILITY, 'dashboard.json'), 'utf8')) as Dashboard;
