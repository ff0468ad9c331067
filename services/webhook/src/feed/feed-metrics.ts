import type { Knex } from '@tocsin/postgres';
import { Counter, Gauge, type Metrics } from '@tocsin/runtime';
import { feedReader } from './store/feed-reader.ts';
import type { Time } from '../shared/store/time.ts';

/** The metrics of the event feed in `/metrics`. */
export interface FeedMetrics {
  swept: Counter;
}

export function feedMetrics(options: { registry: Metrics; database: Knex; time: Time }): FeedMetrics {
  const { registry, database, time } = options;
  const registers = [registry];
  new Gauge({
    name: 'tocsin_feed_age_seconds',
    help: 'How long ago the latest event was recorded in the feed',
    registers,
    async collect() {
      const now = await time(database);
      const latest = (await feedReader(database).latest()) ?? now;
      this.set((Date.parse(now) - Date.parse(latest)) / 1_000);
    },
  });
  return {
    swept: new Counter({ name: 'tocsin_feed_swept_total', help: 'Expired events deleted from the feed', registers }),
  };
}
