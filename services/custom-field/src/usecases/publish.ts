import { outbox } from '@tocsin/messaging';
import type { Knex } from '@tocsin/runtime';
import type { Field } from '../domain/field.ts';
import { definitionSnapshot } from '../domain/snapshot.ts';
import type { Caller, Tools } from './context.ts';

/** A definition after a command, with the workspace's version that the command made; `undefined` if it changed nothing. */
export interface Outcome {
  field: Field;
  version: number | undefined;
}

/**
 * Carries out a command in a transaction: its event commits with it, and the version is known to the replicas before
 * anybody is answered.
 */
export async function publishing(
  tools: Tools,
  { principal: { workspace }, requestId }: Caller,
  work: (trx: Knex.Transaction) => Promise<Outcome>,
): Promise<Field> {
  const { field, version } = await tools.database.transaction(async (trx) => {
    const outcome = await work(trx);
    if (outcome.version !== undefined) {
      await outbox(trx).add({
        type: 'custom-field.changed',
        occurredAt: outcome.field.updatedAt,
        workspace: { id: workspace.id, slug: workspace.slug, is_demo: workspace.is_demo },
        requestId,
        data: { version: outcome.version, field: definitionSnapshot(outcome.field) },
      });
    }
    return outcome;
  });
  if (version !== undefined) {
    tools.wakeRelay();
    await raiseVersion(tools, workspace.id, version);
  }
  return field;
}

/** Tells every replica how far it has to be. Where that fails, the event brings the same news a little later. */
export async function raiseVersion({ versions, log }: Tools, workspaceId: number, version: number): Promise<void> {
  try {
    await versions.raise('custom_field', workspaceId, version);
  } catch (error) {
    log.warn({ err: error, workspace: workspaceId }, 'the version could not be raised');
  }
}
