import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../installation/environment.ts';

const SOURCE = 'infra/observability/rules.yaml';

/** The rules as the custom resource of the Prometheus Operator, which has the same groups below `spec`. */
export const prometheusRuleFile = {
  file: 'infra/observability/kubernetes/prometheus-rule.yaml',
  generate: async () => {
    const text = await readFile(path.join(ROOT, SOURCE), 'utf8');
    const groups = text.slice(text.indexOf('\ngroups:') + 1).trimEnd();
    return [
      `# Generated from ${SOURCE} by npm run generate.`,
      'apiVersion: monitoring.coreos.com/v1',
      'kind: PrometheusRule',
      'metadata:',
      '  name: tocsin',
      '  labels: { app.kubernetes.io/part-of: tocsin }',
      'spec:',
      ...groups.split('\n').map((line) => (line === '' ? '' : `  ${line}`)),
      '',
    ].join('\n');
  },
};
