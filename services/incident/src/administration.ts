import { parseTimestamp } from '@tocsin/contracts';
import { invalidRequest } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { systemClock } from '@tocsin/runtime';
import { DEFAULT_TEMPLATE, findTemplateViolation } from './chat/domain/channel-name.ts';
import { type ConfigurationPart, readConfigurationPart } from './configuration/domain/configuration-part.ts';
import { assignGroupIds } from './timeline/domain/timeline-group-ids.ts';
import { chatConnectionStore } from './chat/store/chat-connection-store.ts';
import { type ConfigurationChange, configurationChanges } from './configuration/store/configuration-changes.ts';
import { timelineGroupStore } from './timeline/store/timeline-group-store.ts';
import { chatKeyring } from './chat/chats.ts';

export { counterStore as incidentCounters } from './incidents/store/counter-store.ts';
export { findWrongSummaries, recountTimeline } from './timeline/recount-timeline.ts';
export {
  type ChangeReaders,
  completeReplica,
  removeUnknownRows,
  type ReplicaTable,
} from './replicas/repair-replica.ts';

/** A validated change of a workspace's configuration. */
export interface ConfigurationPlan {
  /** Applies the change. Returns the new lists in the form of the file, with the assigned IDs. */
  apply(trx: Knex.Transaction): Promise<Record<string, unknown>>;
}

/**
 * Validates this service's part of a workspace's configuration: any of `workflow_statuses`, `severities`, `exchange_rates` and
 * `timeline_groups`, each replacing the stored list (contract: Administration). The caller of `apply` raises the workspace's
 * version afterwards.
 * @throws DomainError `unknown_field` or `invalid_request` naming the field of the file, also if it removes an entry in use
 */
export async function planConfiguration(
  database: Knex,
  workspaceId: number,
  part: unknown,
): Promise<ConfigurationPlan> {
  const requested = readConfigurationPart(part);
  await checkUse(database, workspaceId, requested);
  return {
    async apply(trx) {
      const changes = configurationChanges(trx, workspaceId);
      const change = toConfigurationChange(requested);
      await changes.begin();
      // Check again: since `begin` no other transaction changes the configuration or an incident's status or severity.
      await checkUse(trx, workspaceId, requested);
      await changes.write(change);
      if (change.workflowStatuses !== undefined) await changes.realignEnds(change.workflowStatuses);
      if (requested.timeline_groups === undefined) return { ...requested };

      const groups = timelineGroupStore(trx, workspaceId);
      const timeline_groups = assignGroupIds(requested.timeline_groups, await groups.list());
      await groups.replace(timeline_groups);
      return { ...requested, timeline_groups };
    },
  };
}

/** A workspace's chat connection without its token. */
export interface ConnectedWorkspace {
  channelTemplate: string;
}

/**
 * Connects a workspace to its chat and replaces an existing connection; takes effect with the next request (contract: Chat).
 * Stores the token encrypted and does not check it with the chat.
 * @throws DomainError `invalid_request` naming `bot_token` or `channel_template`
 */
export async function connectChat(
  database: Knex,
  connection: { workspaceId: number; botToken: string; channelTemplate: string | undefined; secretKeys: string },
): Promise<ConnectedWorkspace> {
  const { workspaceId, botToken, channelTemplate = DEFAULT_TEMPLATE, secretKeys } = connection;
  // The characters that a header can carry without spaces.
  if (!/^[\x21-\x7e]{1,512}$/.test(botToken))
    throw invalidRequest('bot_token', 'The bot token must be 1 to 512 printable ASCII characters without spaces');
  const violation = findTemplateViolation(channelTemplate);
  if (violation !== undefined) throw invalidRequest('channel_template', `The template ${violation}`);
  const token = chatKeyring(secretKeys).seal(botToken, String(workspaceId));
  await chatConnectionStore(database).put({ workspaceId, token, channelTemplate }, systemClock.now());
  return { channelTemplate };
}

/** Disconnects a workspace from its chat; returns whether it was connected. Channels stay as they are. */
export const disconnectChat = async (database: Knex, workspaceId: number): Promise<boolean> =>
  chatConnectionStore(database).remove(workspaceId);

/** Whether the database contains data that is encrypted with the secret keys. */
export const holdsSecrets = async (database: Knex): Promise<boolean> => chatConnectionStore(database).hasAny();

/** Tokens that no key opens, of those of the most recent connections. */
export async function countUnopenedTokens(
  database: Knex,
  { secretKeys, limit }: { secretKeys: string; limit: number },
): Promise<{ checked: number; unopened: number }> {
  const keyring = chatKeyring(secretKeys);
  const connections = await chatConnectionStore(database).listLatest(limit);
  const unopened = connections.filter(({ token, workspaceId }) => {
    try {
      keyring.open(token, String(workspaceId));
      return false;
    } catch {
      return true;
    }
  });
  return { checked: connections.length, unopened: unopened.length };
}

/** Refuses to remove entries that incidents, including archived ones, or timeline events still use. */
async function checkUse(db: Knex, workspaceId: number, requested: ConfigurationPart): Promise<void> {
  const changes = configurationChanges(db, workspaceId);
  for (const [field, column] of [
    ['workflow_statuses', 'status'],
    ['severities', 'severity'],
  ] as const) {
    const entries = requested[field];
    if (entries === undefined) continue;
    const used = await changes.findMissing(
      column,
      entries.map(({ key }) => key),
    );
    if (used !== undefined) throw invalidRequest(field, `The ${column} ${used} cannot be removed: incidents use it`);
  }
  if (requested.timeline_groups === undefined) return;
  const groups = timelineGroupStore(db, workspaceId);
  const existing = await groups.list();
  const kept = new Set(assignGroupIds(requested.timeline_groups, existing).map(({ id }) => id));
  const removed = existing.filter(({ id }) => !kept.has(id));
  const used = await groups.findUsed(removed.map(({ id }) => id));
  if (used !== undefined) {
    const name = removed.find(({ id }) => id === used)?.name;
    throw invalidRequest('timeline_groups', `The group ${used} (${name}) cannot be removed: it has timeline events`);
  }
}

/** Converts the lists into the stored form. */
function toConfigurationChange({
  workflow_statuses,
  severities,
  exchange_rates,
}: ConfigurationPart): ConfigurationChange {
  return {
    ...(workflow_statuses !== undefined && {
      workflowStatuses: workflow_statuses.map((status, order) => ({
        key: status.key,
        label: status.label,
        order,
        isDefault: status.is_default,
        isTerminal: status.is_terminal,
        isEscalationThreshold: status.is_escalation_threshold,
        color: status.color,
      })),
    }),
    ...(severities !== undefined && {
      severities: severities.map((severity, order) => ({
        key: severity.key,
        label: severity.label,
        order,
        isDefault: severity.is_default,
        minScore: severity.min_score,
        description: severity.description,
        color: severity.color,
      })),
    }),
    ...(exchange_rates !== undefined && {
      exchangeRates: Object.fromEntries(
        exchange_rates.map(({ currency, rate, as_of }) => [currency, { rate, asOf: parseTimestamp(as_of) as string }]),
      ),
    }),
  };
}

// For the seed, which fills the service's tables in bulk.
export { fold } from './shared/domain/fold.ts';
export { type Mrr, mrrParts } from './incidents/store/mrr-parts.ts';
export { textGrams } from './values/store/text-grams.ts';
