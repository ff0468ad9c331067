/** The resources as commands, where their names differ from those in the SDK. */
const RESOURCES: Readonly<Record<string, string>> = {
  apiKeys: 'keys',
  auditLog: 'audit-log',
  configuration: 'config',
  customFields: 'fields',
  idempotencyKeys: 'idempotency-keys',
};

/** Operations whose command has another name than their verb. */
const VERBS: Readonly<Record<string, string>> = {
  createFollowUp: 'add',
  createIncident: 'declare',
  createIncidentRelation: 'relate',
  createTimelineEvent: 'add',
  getIncidentPostmortem: 'postmortem',
  deleteIncidentRelation: 'unrelate',
  listIncidentRelations: 'relations',
};

/** What a table shows of the rows of a resource, or of one operation. */
export const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  apiKeys: ['id', 'name', 'prefix', 'user_id', 'expires_at', 'revoked_at'],
  auditLog: ['occurred_at', 'action', 'actor'],
  followUps: ['id', 'due_on', 'status', 'owner', 'incident_id', 'title'],
  customFields: ['id', 'slug', 'name', 'type', 'archived_at'],
  incidents: ['human_id', 'status', 'severity', 'service', 'created_at', 'title'],
  listAlertNotifications: ['received_at', 'outcome', 'format', 'identity', 'started', 'ended', 'reason'],
  listIncidentChangelog: ['revision', 'changed_at', 'changes'],
  listIncidentPostmortemRevisions: ['revision', 'state', 'updated_at', 'updated_by'],
  listIncidentRelations: ['id', 'type', 'incident', 'created_at'],
  listWebhookDeliveries: ['id', 'incident', 'webhook_id', 'status', 'attempts', 'last_status', 'queued_at'],
  services: ['id', 'slug', 'name', 'tier', 'owner_team_id'],
  teams: ['id', 'slug', 'name', 'parent_id'],
  timeline: ['id', 'started_at', 'type', 'source', 'title', 'body'],
  users: ['id', 'name', 'email', 'role', 'seat', 'active'],
  webhooks: ['id', 'name', 'origin', 'status'],
};

export const resourceCommand = (resource: string) => RESOURCES[resource] ?? kebab(resource);

/** The words of an operation's command: `incidents declare`. @param name its place in the SDK */
export function commandWords(id: string, name: string): [string, string] {
  const [resource = '', verb = ''] = name.split('.');
  return [resourceCommand(resource), VERBS[id] ?? kebab(verb)];
}

const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
