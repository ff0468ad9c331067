import Sequencer from '@jest/test-sequencer';

/** The longest test files of both tiers, in the order in which they start. */
const LONGEST = [
  ...['attacks', 'embedded', 'faults', 'feed', 'backup', 'consume', 'events-package', 'shortages', 'doctor'],
  ...['database-outage', 'chat', 'dead-letters', 'fuzz', 'relay-order', 'broker-loss', 'rolling-restart'],
  ...['limits', 'live-api', 'page-bytes', 'upstreams', 'consumer', 'batch-consumer', 'list-rare', 'timeline-model'],
  ...['custom-fields', 'deliveries', 'database-deadlines', 'values-fuzz', 'migrate', 'changes', 'waiting'],
];

/** Runs the longest test files first, so that none of them runs alone at the end. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const index = LONGEST.findIndex((name) => new RegExp(`/${name}\\.(api|system)\\.test\\.ts$`).test(path));
      return index < 0 ? LONGEST.length : index;
    };
    return super.sort(tests).toSorted((a, b) => rank(a) - rank(b));
  }
}
