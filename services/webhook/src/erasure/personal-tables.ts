/**
 * `erasure` says what this service keeps about persons, and whether it has heard of an erasure (contract: Erasing a
 * user). The walk over its tables is that of all services (`@tocsin/service-host`); it begins when the queue has
 * brought `user.erased`, which the incident service publishes behind all events with the person: later ones have none.
 * Deleted incidents are emptied here, too: their feed events keep their positions, without a body. A step that is
 * repeated changes nothing, and what a crash interrupts the gateway asks for again.
 */
import type { PersonalTables } from '@tocsin/service-host';

export const PERSONAL_TABLES: PersonalTables = {
  subscriptions: { texts: ['name'], place: { kind: 'webhook', id: 'id' } },
  destinations: { people: ['recipients'], texts: ['name', 'template'], place: { kind: 'destination', id: 'id' } },
  events: { json: ['body'] },
  feed_events: { json: ['body'] },
  deliveries: { users: ['requested_by'], people: ['requested_by'] },
  attempts: { emptied: ['answer'] },
  outbox: { json: ['body'] },
  dead_letters: { json: ['body'] },
};
