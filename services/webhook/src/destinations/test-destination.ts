import { invalidState, shareExceeded } from '@tocsin/http';
import type { Described } from './domain/describe-event.ts';
import type { Destination } from './domain/destination.ts';
import { openAddress } from './address.ts';
import type { MessageOutcome, Transport } from './clients/transport.ts';
import type { DestinationDependencies } from './destination-commands.ts';
import { KINDS_BY_NAME, textMaker } from './domain/kinds/index.ts';
import type { KindOfDestination } from './domain/kinds/kind.ts';
import { activeRecipients } from './recipients.ts';
import { destinationStore } from './store/destination-store.ts';

/** The workspaces whose test this process sends. */
export type RunningTests = Set<number>;

type TestDependencies = DestinationDependencies & { send: Transport; runningTests: RunningTests };

interface TestCommand {
  workspace: { id: number; slug: string };
  id: number;
}

/**
 * Sends a message that says it is a test, and returns what the receiver said. A pager gets one that begins and one that ends.
 * @throws DomainError `not_found`, `invalid_resource_state` if it is archived or goes to nobody, `rate_limited` during another test
 */
export async function testDestination(
  dependencies: TestDependencies,
  { workspace, id }: TestCommand,
): Promise<MessageOutcome> {
  const { database, secretCipher, incidents, runningTests } = dependencies;
  const store = destinationStore(database, workspace.id);
  const destination = await store.get(id);
  const sealed = await store.findAddress(id);
  if (sealed === undefined) throw invalidState('The destination is archived');
  const recipients = await activeRecipients(incidents, destination);
  if (recipients.length < Math.min(1, destination.recipients.length))
    throw invalidState('No recipient is an active user any more');
  if (runningTests.has(workspace.id))
    throw shareExceeded('Another test of the workspace is under way; try again afterwards', {
      reason: 'destination_tests',
    });
  runningTests.add(workspace.id);
  try {
    const to = { ...openAddress(secretCipher, id, sealed), workspaceId: workspace.id, recipients };
    return await sendTest(dependencies, { destination, to, slug: workspace.slug });
  } finally {
    runningTests.delete(workspace.id);
  }
}

async function sendTest(
  { database, time, send }: TestDependencies,
  {
    destination,
    to,
    slug,
  }: { destination: Destination; to: Parameters<KindOfDestination['message']>[1]; slug: string },
): Promise<MessageOutcome> {
  const kind = KINDS_BY_NAME[destination.kind];
  const textOf = textMaker(destination);
  const at = await time(database);
  let outcome: MessageOutcome = { kind: 'success', status: 200 };
  for (const phase of kind.takes === undefined ? (['went on'] as const) : (['began', 'ended'] as const)) {
    const described = sample(destination, { phase, at, slug });
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
