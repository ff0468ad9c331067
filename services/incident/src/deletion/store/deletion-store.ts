import type { Statement } from '@tocsin/postgres';
import type { Incident } from '../../incidents/domain/incident.ts';

/** What stands in the place of a stored response that shows the incident. */
const GONE = JSON.stringify({ code: 'not_found', message: 'The incident was deleted' });

/** What a stored response has of an incident, or of something that belongs to it. */
const mentions = ({ id }: Pick<Incident, 'id'>, reference: string): string[] => [
  `"human_id":"${reference}"`,
  `"reference":"${reference}"`,
  `"incident_id":${id},`,
  `"incident_id":${id}}`,
  `"incident":{"id":${id},`,
];

/** Deletes a locked incident with all that belongs to it. */
export const deletionOf = (incident: Pick<Incident, 'id' | 'workspaceId'>, reference: string): Statement[] => {
  const { id, workspaceId } = incident;
  return [
    {
      text: `update idempotency_keys set status = 404, body = $3, revision = null
        where workspace_id = $1 and body like any((select $2::text[])::text[])`,
      values: [workspaceId, mentions(incident, reference).map((text) => `%${text}%`), GONE],
    },
    {
      text: `update alert_sources set last_incident_id = null where workspace_id = $1 and last_incident_id = $2`,
      values: [workspaceId, id],
    },
    { text: 'delete from incidents where workspace_id = $1 and id = $2', values: [workspaceId, id] },
  ];
};
