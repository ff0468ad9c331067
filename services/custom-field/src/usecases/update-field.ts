import { checkRevision } from '@tocsin/http';
import { versionStore } from '@tocsin/runtime';
import { checkField } from '../domain/check-field.ts';
import { differences } from '../domain/differences.ts';
import { checkWritable, type Field } from '../domain/field.ts';
import { fieldStore } from '../store/field-store.ts';
import type { Caller, Tools } from './context.ts';
import { propertiesOf, type WireProperties } from './properties.ts';
import { publishing } from './publish.ts';

export interface UpdateCommand extends Caller {
  id: number;
  expectedRevision: number;
  body: WireProperties;
}

/**
 * Changes some properties of an active definition (contract: Custom fields). Values equal to the stored ones change nothing.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `unknown_field` or `invalid_request`, in
 * this order
 */
export async function updateField(tools: Tools, command: UpdateCommand): Promise<Field> {
  const { id, expectedRevision, body } = command;
  const workspaceId = command.principal.workspace.id;
  return publishing(tools, command, async (trx) => {
    const store = fieldStore(trx, workspaceId);
    const current = await store.getForUpdate(id);
    checkWritable(current);
    checkRevision(current.revision, expectedRevision);
    const change = differences(current, propertiesOf(body));
    if (change === undefined) return { field: current, version: undefined };

    const field = { ...current, ...change, revision: current.revision + 1, updatedAt: tools.clock.now() };
    checkField(field);
    const version = await versionStore(trx, workspaceId).next();
    await store.update(field, version);
    return { field, version };
  });
}
