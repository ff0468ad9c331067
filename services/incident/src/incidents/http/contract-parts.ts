import { pathId } from '@tocsin/http';
import { z } from 'zod';

// What the contracts of several rooms have in common.

export const INCIDENTS = '/api/v1/incidents';
export const INCIDENT = `${INCIDENTS}/{id}`;

export const params = z.strictObject({ id: pathId.meta({ description: 'ID of the incident' }) });

export const read = { scope: 'incidents:read' } as const;
export const create = { scope: 'incidents:write', needs: ['active_responder'] } as const;
/** Fails while the incident is archived. */
export const write = { scope: 'incidents:write', needs: ['active_responder', 'mutable_incident'] } as const;
