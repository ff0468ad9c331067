import { parseTimestamp } from '@tocsin/contracts';
import { invalid } from '@tocsin/http';
import { type Knex, systemClock } from '@tocsin/runtime';
import { DEFAULT_TEMPLATE, findTemplateFault } from './domain/channel-name.ts';
import { type ConfigurationPart, readConfigurationPart } from './domain/configuration-part.ts';
import { identify } from './domain/timeline-groups.ts';
import { chatConnectionStore } from './store/chat-connection-store.ts';
import { type ConfigurationChange, configurationChanges } from './store/configuration-changes.ts';
import { timelineGroupStore } from './store/timeline-group-store.ts';
import { chatKeyring } from './usecases/chats.ts';

/** A change of a workspace's configuration that was found to be possible. */
export interface ConfigurationPlan {
  /** Makes the change, and answers the lists that it made, as the file would say them, with the IDs that were given. */
  apply(trx: Knex.Transaction): Promise<Record<string, unknown>>;
}

/**
 * Judges the part of a workspace's configuration that is this service's: any of `workflow_statuses`, `severities`,
 * `exchange_rates` and `timeline_groups`, each the whole new list (contract: Administration). Whoever applies it raises
 * the workspace's version afterwards.
 * @throws DomainError `unknown_field` or `invalid_request` naming the place in the file, for what is still in use too
 */
export async function planConfiguration(
  database: Knex,
  workspaceId: number,
  part: unknown,
): Promise<ConfigurationPlan> {
  const wanted = readConfigurationPart(part);
  await checkUse(database, workspaceId, wanted);
  return {
    async apply(trx) {
      const changes = configurationChanges(trx, workspaceId);
      const change = changeOf(wanted);
      await changes.write(change);
      // Again, for time has gone by; and now nobody else configures the workspace.
      await checkUse(trx, workspaceId, wanted);
      if (change.workflowStatuses !== undefined) await changes.realignEnds(change.workflowStatuses);
      if (wanted.timeline_groups === undefined) return { ...wanted };

      const groups = timelineGroupStore(trx, workspaceId);
      const timeline_groups = identify(wanted.timeline_groups, await groups.list());
      await groups.replace(timeline_groups);
      return { ...wanted, timeline_groups };
    },
  };
}

/** How a workspace is connected to its chat; the token stays out of sight. */
export interface ConnectedWorkspace {
  channelTemplate: string;
}

/**
 * Connects a workspace to its chat, in place of the connection that it had; in force for the next request (contract: Chat).
 * The token is kept encrypted. Whether the chat accepts it is not asked here.
 * @throws DomainError `invalid_request` naming `bot_token` or `channel_template`
 */
export async function connectChat(
  database: Knex,
  connection: { workspaceId: number; botToken: string; channelTemplate: string | undefined; secretKeys: string },
): Promise<ConnectedWorkspace> {
  const { workspaceId, botToken, channelTemplate = DEFAULT_TEMPLATE, secretKeys } = connection;
  // As a header can carry it.
  if (!/^[\x21-\x7e]{1,512}$/.test(botToken)) throw invalid('bot_token', 'The bot token must be one, without spaces');
  const fault = findTemplateFault(channelTemplate);
  if (fault !== undefined) throw invalid('channel_template', `The template ${fault}`);
  const token = chatKeyring(secretKeys).seal(botToken, String(workspaceId));
  await chatConnectionStore(database).put({ workspaceId, token, channelTemplate }, systemClock.now());
  return { channelTemplate };
}

/** Cuts a workspace's connection to its chat; answers whether there was one. Channels stay as they are. */
export const disconnectChat = async (database: Knex, workspaceId: number): Promise<boolean> =>
  chatConnectionStore(database).remove(workspaceId);

/** Refuses to take away what incidents, archived ones too, or their timelines still have. */
async function checkUse(db: Knex, workspaceId: number, wanted: ConfigurationPart): Promise<void> {
  const changes = configurationChanges(db, workspaceId);
  for (const [field, column] of [
    ['workflow_statuses', 'status'],
    ['severities', 'severity'],
  ] as const) {
    const entries = wanted[field];
    if (entries === undefined) continue;
    const used = await changes.findMissing(
      column,
      entries.map(({ key }) => key),
    );
    if (used !== undefined) throw invalid(field, `The ${column} ${used} cannot be removed: incidents still have it`);
  }
  if (wanted.timeline_groups === undefined) return;
  const groups = timelineGroupStore(db, workspaceId);
  const existing = await groups.list();
  const kept = new Set(identify(wanted.timeline_groups, existing).map(({ id }) => id));
  const removed = existing.filter(({ id }) => !kept.has(id));
  const used = await groups.findUsed(removed.map(({ id }) => id));
  if (used !== undefined) {
    const name = removed.find(({ id }) => id === used)?.name;
    throw invalid('timeline_groups', `The group ${used} (${name}) cannot be removed: timeline events are in it`);
  }
}

/** The lists as they are kept. */
function changeOf({ workflow_statuses, severities, exchange_rates }: ConfigurationPart): ConfigurationChange {
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
