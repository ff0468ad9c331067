import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { describeWithProgram } from '@tocsin/testing/suites';
import { stringify } from 'yaml';
import { OBSERVABILITY, readRules } from './observability.ts';
import { ALARM_CASES, type AlarmCase, type Series } from './alarm-cases.ts';

const { alarms } = readRules();
const RULES = path.join(OBSERVABILITY, 'rules.yaml');

test('every alarm has a case', () => {
  expect(alarms.map(({ alert }) => alert).toSorted()).toEqual(Object.keys(ALARM_CASES).toSorted());
});

describeWithProgram('promtool')('the rules, according to promtool', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-rules-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const promtool = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };

  test('are valid', () => {
    expect(promtool('check', 'rules', RULES)).toMatchObject({ status: 0, output: expect.stringContaining('SUCCESS') });
  });

  test('are read by the configuration of Compose', () => {
    const config = promtool('check', 'config', '--syntax-only', path.join(OBSERVABILITY, 'prometheus.yaml'));
    expect(config).toMatchObject({ status: 0, output: expect.stringContaining('SUCCESS') });
  });

  /** A test of promtool: which alarms of a name fire, minutes after the start of the series. */
  function alarmTest(alert: string, series: Series, expected: { at: number; labels: AlarmCase['labels'] }[]) {
    const alarm = alarms.find((other) => other.alert === alert);
    return {
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      alert_rule_test: expected.map(({ at, labels }) => ({
        alertname: alert,
        eval_time: `${at}m`,
        exp_alerts: labels.map((own) => ({
          exp_labels: { ...own, ...alarm?.labels },
          exp_annotations: alarm?.annotations,
        })),
      })),
    };
  }

  // All in one run, since promtool takes a second to start. Its output names the alarms that behave differently.
  const outputOf = (tests: readonly object[]) => {
    const file = path.join(folder, 'tests.yaml');
    writeFileSync(file, stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
    return promtool('test', 'rules', file).output;
  };

  test('every alarm fires when its state lasts, not before, and never without it', () => {
    const tests = Object.entries(ALARM_CASES).flatMap(([alert, { broken, healthy, silentAt, firesAfter, labels }]) => {
      const minutes = [silentAt, firesAfter, Math.min(2 * firesAfter, 200)];
      return [
        alarmTest(alert, broken, [
          { at: silentAt, labels: [] },
          { at: firesAfter, labels },
        ]),
        alarmTest(
          alert,
          healthy,
          minutes.map((at) => ({ at, labels: [] })),
        ),
      ];
    });
    expect(tests).toHaveLength(2 * alarms.length);
    expect(outputOf(tests)).toContain('SUCCESS');
  });

  test('the check itself finds an alarm that does not fire', () => {
    const { healthy, firesAfter, labels } = ALARM_CASES['TocsinDeadLetters']!;
    expect(outputOf([alarmTest('TocsinDeadLetters', healthy, [{ at: firesAfter, labels }])])).toContain('FAILED');
  });
});
