import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { APP_NAMES } from '../apps.ts';
import { ROOT } from '../environment.ts';
import { OBSERVABILITY, type Panel, readDashboard, readRules } from './observability.ts';

const dashboard = readDashboard();
const shown = dashboard.panels.filter(({ type }) => type !== 'row');
/** Identifiers of Grafana's units (`@grafana/data`, categories of value formats) that the dashboard may use. */
const UNITS = new Set(['s', 'bytes', 'percentunit', 'reqps', 'short', 'bool_yes_no']);
const WIDTH = 24;

test('the dashboard has an identity, a schema that Grafana migrates, and its two variables', () => {
  expect(dashboard).toMatchObject({ uid: 'tocsin', title: 'Tocsin', schemaVersion: 39 });
  expect(dashboard.templating.list.map(({ name, type }) => [name, type])).toEqual([
    ['datasource', 'datasource'],
    ['app', 'query'],
  ]);
});

test('panels have IDs and titles of their own, a description, a unit, and queries of the chosen data source', () => {
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(shown.map(({ title }) => title)).size).toBeGreaterThan(shown.length - 2);
  const chosen = { type: 'prometheus', uid: '${datasource}' };
  for (const { title, type, description, datasource, fieldConfig, targets = [] } of shown) {
    expect([title, type]).toEqual([title, expect.stringMatching(/^(?:timeseries|stat)$/)]);
    expect([title, datasource, UNITS.has(fieldConfig?.defaults.unit ?? '')]).toEqual([title, chosen, true]);
    expect(description).toMatch(/[.]$/);
    expect(targets.length).toBeGreaterThan(0);
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    for (const target of targets) {
      expect(target.datasource).toEqual(chosen);
      // Otherwise the legend is the whole series with its labels.
      if (type === 'timeseries') expect(target.legendFormat).toMatch(/\S/);
      // A range in the text of a query would hide short events when the dashboard shows days.
      expect(target.expr).not.toMatch(/\[\d/);
    }
  }
});

test('panels do not overlap', () => {
  const taken = new Map<string, string>();
  for (const { title, gridPos } of dashboard.panels) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(WIDTH);
    for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        expect([title, taken.get(`${x} ${y}`)]).toEqual([title, undefined]);
        taken.set(`${x} ${y}`, title);
      }
    }
  }
});

test('descriptions name only alarms that exist', () => {
  const alarms = new Set(readRules().alarms.map(({ alert }) => alert));
  const named = shown.flatMap(({ description = '' }: Panel) => description.match(/Tocsin[A-Z]\w+/g) ?? []);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !alarms.has(name))).toEqual([]);
});

test('on Kubernetes, every app is scraped at the port with its metrics', () => {
  const monitors = parseAllDocuments(
    readFileSync(path.join(OBSERVABILITY, 'kubernetes/pod-monitors.yaml'), 'utf8'),
  ).map((document) => document.toJS());
  const scraped = monitors.flatMap(({ spec }) => {
    const names = spec.selector.matchExpressions?.[0].values ?? [spec.selector.matchLabels['app.kubernetes.io/name']];
    expect(spec.podMetricsEndpoints).toMatchObject([{ path: '/metrics', honorLabels: true }]);
    return names.map((name: string) => [name, spec.podMetricsEndpoints[0].port]);
  });
  const served = APP_NAMES.map((app) => {
    const [deployment] = parseAllDocuments(readFileSync(path.join(ROOT, `infra/kubernetes/${app}.yaml`), 'utf8'));
    const { ports } = deployment?.toJS().spec.template.spec.containers[0];
    const names = ports.map(({ name }: { name: string }) => name);
    return [app, names.includes('internal') ? 'internal' : names[0]];
  });
  expect(scraped.toSorted()).toEqual(served.toSorted());
});

test('the custom resource has the same rules', () => {
  const read = (file: string) => parse(readFileSync(path.join(OBSERVABILITY, file), 'utf8'));
  expect(read('kubernetes/prometheus-rule.yaml').spec).toEqual(read('rules.yaml'));
});
