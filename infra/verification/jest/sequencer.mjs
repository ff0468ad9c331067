import Sequencer from '@jest/test-sequencer';

/** The longest test files of the first two tiers, in the order in which they start. */
const LONGEST = [
  ...['console', 'reference', 'embedded', 'backup', 'growth', 'feed', 'services', 'faults'],
  ...['rolling-restart', 'consume', 'doctor', 'fuzz', 'statement-plans', 'validate-only', 'shortages', 'broker-loss'],
  ...['cli', 'transfer', 'relay-order', 'dead-letters', 'events-package'],
  ...['limits', 'list-model', 'page-bytes', 'admin', 'live-api', 'custom-fields', 'list-rare', 'timeline-model'],
  ...['upstreams', 'migrate', 'service-keys', 'changes', 'database-deadlines', 'waiting', 'shares', 'slow-receivers'],
  ...['consumer', 'values-fuzz', 'delivery-log', 'events-model', 'batch-consumer'],
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
