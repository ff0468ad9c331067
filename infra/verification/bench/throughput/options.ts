import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** How many clients send at once, one measurement for each. */
  clients: readonly number[];
  rounds: number;
  /** Of each measurement in a round. */
  seconds: number;
  /** Names of cases; empty: all. */
  only: readonly string[];
  isJson: boolean;
  /** Also the costs at 10,000, 100,000 and 1,000,000 incidents. */
  hasGrowth: boolean;
  /** Also with 1, 2 and 4 processes of each app. */
  hasReplicas: boolean;
  /** Whether to write docs/performance.md. */
  writes: boolean;
  /** Also parse-server, which npm installs. */
  hasPeers: boolean;
}

/** @throws an error with a one-line message for an unknown flag or a value that is not a whole number */
export function benchOptions(args: readonly string[]): BenchOptions {
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
    clients: values.clients.split(',').map((text) => count('clients', text)),
    rounds: count('rounds', values.rounds),
    seconds: count('seconds', values.seconds),
    only: values.only,
    isJson: values.json,
    hasGrowth: values.growth,
    hasReplicas: values.replicas,
    writes: values.write,
    hasPeers: values.peers,
  };
}

function count(flag: string, text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`--${flag} must be a whole number of at least 1`);
  return Number(text);
}
