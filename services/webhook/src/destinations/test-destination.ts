import { invalidState, shareExceeded } from '@tocsin/http';
import type { Described } from './domain/describe-event.ts';
import type { Destination } from './domain/destination.ts';
import { openAddress } from './address.ts';
import type { MessageOutcome, Transport } from './clients/transport.ts';
import type { DestinationDependencies } from './destination-commands.ts';
import { KINDS_BY_NAME, textMaker } from './domain/kinds/index.ts';
import { destinationStore } from './store/destination-store.ts';

/** Milliseconds between two tests of the destinations of a workspace. */
const PAUSE = 2_000;

/** When a workspace last tested, in this process. */
export type LastTests = Map<number, number>;

/**
 * Sends a message that says it is a test, and returns what the receiver said. A pager gets one that begins and one that ends.
 * @throws DomainError `not_found`, `invalid_resource_state` if it is archived, `rate_limited`
 */
export async function testDestination(
  {
    database,
    time,
    secretCipher,
    send,
    lastTests,
  }: DestinationDependencies & { send: Transport; lastTests: LastTests },
  { workspace, id }: { workspace: { id: number; slug: string }; id: number },
): Promise<MessageOutcome> {
  const store = destinationStore(database, workspace.id);
  const destination = await store.get(id);
  const sealed = await store.findAddress(id);
  if (sealed === undefined) throw invalidState('The destination is archived');
  const now = performance.now();
  if (now - (lastTests.get(workspace.id) ?? -Infinity) < PAUSE)
    throw shareExceeded('The workspace has just tested a destination; try again in two seconds', {
      ...{ reason: 'destination_tests', seconds: PAUSE / 1_000 },
    });
  // Insertion order: the oldest first.
  lastTests.delete(workspace.id);
  lastTests.set(workspace.id, now);
  for (const [other, at] of lastTests) {
    if (now - at < PAUSE) break;
    lastTests.delete(other);
  }
  const kind = KINDS_BY_NAME[destination.kind];
  const to = { ...openAddress(secretCipher, id, sealed), recipients: destination.recipients, id };
  const textOf = textMaker(destination);
  const at = await time(database);
  let outcome: MessageOutcome = { kind: 'success', status: 200 };
  for (const phase of kind.takes === undefined ? (['went on'] as const) : (['began', 'ended'] as const)) {
    const described = sample(destination, { phase, at, slug: workspace.slug });
    outcome = await send(kind.message([{ ...described, text: textOf(described) }], to));
    if (outcome.kind === 'failure') break;
  }
  return outcome;
}

function sample(
  { id, name }: Destination,
  { phase, at, slug }: { phase: Described['phase']; at: string; slug: string },
): Described {
  const event = `test-${id}-${Date.parse(at)}`;
  const body = { id: event, type: 'destination.test', occurred_at: at, workspace: { slug }, data: { name } };
  return {
    ...{ id: event, type: 'destination.test', occurred_at: at, workspace: slug, reference: 'Test', url: '' },
    ...{ title: `Tocsin can reach ${name}`, what: 'this is a test, and nothing is broken' },
    ...{ severity: '', status: '', service: '', by: '', phase, key: `tocsin/${slug}/test-${id}`, rank: 3 },
    body: JSON.stringify(body),
  };
}
