import { DomainError, readExpectedRevision, UnstorableItem, validate } from '@tocsin/http';
import { toIncidentProperties } from '../../incidents/http/properties.ts';
import { incidentPatch } from '../../incidents/http/wire.ts';
import type { BulkItem } from '../change-item.ts';
import { looseChangeItem, verbItem } from './wire.ts';

const CHANGES = 'changes.';

/** Checks an item as the single request would be checked. @throws as that does */
export function readItem(item: unknown): BulkItem {
  const { value, fault } = item instanceof UnstorableItem ? item : { value: item };
  const isInChanges = fault?.field?.startsWith(CHANGES) === true;
  if (fault !== undefined && !isInChanges) throw fault;
  if (typeof value === 'object' && value !== null && 'verb' in value) {
    const { id, verb, revision } = validate(verbItem, value);
    return { id, verb, expectedRevision: revision };
  }
  const { id, revision, changes } = validate(looseChangeItem, value);
  const expectedRevision = readExpectedRevision(revision?.toString());
  // The single request has the changes as its body.
  if (fault !== undefined)
    throw new DomainError(fault.code, fault.message, { field: fault.field?.slice(CHANGES.length) });
  return { id, expectedRevision, changes: toIncidentProperties(validate(incidentPatch, changes)) };
}
