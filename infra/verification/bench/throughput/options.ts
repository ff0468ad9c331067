import { parseArgs } from 'node:util';

export type BenchOptions = ReturnType<typeof benchOptions>;

/** @throws an error with a one-line message for an unknown flag or a value that is not a whole number */
export function benchOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      clients: { type: 'string', default: '1,16,64' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      only: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      growth: { type: 'boolean', default: false },
      replicas: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
    },
  });
  return {
    /** How many clients send at once, one measurement for each. */
    clients: values.clients.split(',').map((text) => count('clients', text)),
    rounds: count('rounds', values.rounds),
    /** Of each measurement in a round. */
    seconds: count('seconds', values.seconds),
    /** Names of cases; empty: all. */
    only: values.only,
    isJson: values.json,
    /** Also the costs at 10,000, 100,000 and 1,000,000 incidents. */
    hasGrowth: values.growth,
    /** Also with 1, 2 and 4 processes of each app. */
    hasReplicas: values.replicas,
    /** Whether to write docs/performance.md. */
    writes: values.write,
    /** Also parse-server, which npm installs. */
    hasPeers: values.peers,
  };
}

function count(flag: string, text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`--${flag} must be a whole number of at least 1`);
  return Number(text);
}
