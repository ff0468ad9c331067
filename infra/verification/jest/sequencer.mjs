import Sequencer from '@jest/test-sequencer';

/** The longest test files of the first two tiers, in the order in which they start. */
const LONGEST = [
  ...['console', 'reference', 'consume', 'backup', 'faults', 'growth', 'sdk', 'embedded', 'database-outage', 'feed'],
  ...['rolling-restart', 'services', 'shortages', 'source-histories', 'chat', 'relay-order', 'broker-outage'],
  ...['client-packages', 'broker-loss', 'statement-plans', 'traces', 'doctor', 'validate-only', 'fuzz', 'cli'],
  ...[
    'consumer',
    'limits',
    'batch-consumer',
    'database-deadlines',
    'live-api',
    'own-operations',
    'quotas',
    'upstreams',
  ],
  ...['replica-pages', 'list-model', 'provisioning', 'page-bytes', 'slack-hanging', 'connections', 'slow-receivers'],
  ...['migrate', 'custom-fields', 'admin', 'waits', 'waiting', 'export', 'list-rare', 'provisioning-stop'],
];

/** Runs the longest test files first, so that none of them runs alone at the end. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const index = LONGEST.findIndex((name) => new RegExp(`/${name}(\\.api|\\.system)?\\.test\\.ts$`).test(path));
      return index < 0 ? LONGEST.length : index;
    };
    return super.sort(tests).toSorted((a, b) => rank(a) - rank(b));
  }
}
