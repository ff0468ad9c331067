import type { EventWorkspace } from '@tocsin/schemas';
import { invalidRequest } from '@tocsin/http';
import { changeByOperator } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import { systemClock } from '@tocsin/runtime';
import { DEFAULT_TEMPLATE, findTemplateViolation } from './chat/domain/channel-name.ts';
import { type ConfigurationListsView, listsView } from './configuration/domain/configuration-document.ts';
import { readConfigurationPart } from './configuration/domain/configuration-part.ts';
import { chatConnectionStore } from './chat/store/chat-connection-store.ts';
import { configurationChanges } from './configuration/store/configuration-changes.ts';
import { changeConfiguration } from './configuration-changes/change-configuration.ts';
import type { TierOwner } from './configuration-changes/read-configuration.ts';
import { chatNotConfigured, chatTokens } from './chat/chats.ts';
import { openAddress, trackerKeyring } from './trackers/address.ts';
import { addressStore } from './trackers/store/address-store.ts';

export { counterStore as incidentCounters } from './incidents/store/counter-store.ts';
export { findWrongSummaries, recountTimeline } from './timeline/recount-timeline.ts';

/** A validated change of a workspace's configuration. */
export interface ConfigurationPlan {
  /** Applies the change. Returns the new lists in the form of the file, with the assigned IDs. */
  apply(trx: Knex.Transaction): Promise<{
    lists: Partial<ConfigurationListsView>;
    /** Of the service tiers; `undefined` if they stayed. */
    tiersVersion: number | undefined;
  }>;
}

/**
 * Validates a change of a workspace's configuration: any of its lists, each replacing the stored list (contract:
 * Administration). After the commit, the caller of `apply` makes the tiers apply and raises the workspace's version.
 * @throws DomainError `unknown_field` or `invalid_request` naming the field of the file; `apply` also
 *   `invalid_resource_state` if it removes an entry in use
 */
export async function planConfiguration(
  database: Knex,
  options: { workspace: EventWorkspace; part: unknown; tiers: TierOwner },
): Promise<ConfigurationPlan> {
  const { workspace, part, tiers } = options;
  const requested = readConfigurationPart(part);
  await configurationChanges(database, workspace.id).createCounter();
  const tierState = await tiers.read();
  return {
    async apply(trx) {
      const now = systemClock.now();
      const { lists, tiersVersion } = await changeConfiguration(trx, {
        by: changeByOperator(workspace),
        part: requested,
        tiers,
        tierState,
        now,
        request: undefined,
      });
      const view = Object.entries(listsView(lists)).filter(([name]) => Object.hasOwn(requested, name));
      return { lists: Object.fromEntries(view), tiersVersion };
    },
  };
}

/** A workspace's chat connection without its tokens. */
export interface ConnectedWorkspace {
  channelTemplate: string;
  /** Whether commands in the chat are received. */
  commands: boolean;
}

/**
 * Connects a workspace to its chat and replaces an existing connection; takes effect with the next request (contract: Chat).
 * Stores the tokens encrypted and does not check them with the chat.
 * @param connection without `appToken` commands in the chat are not received
 * @throws DomainError `invalid_request` naming `bot_token`, `app_token` or `channel_template`
 */
export async function connectChat(
  database: Knex,
  connection: {
    workspaceId: number;
    botToken: string;
    appToken?: string | undefined;
    channelTemplate: string | undefined;
    secretKeys: string;
  },
): Promise<ConnectedWorkspace> {
  const { workspaceId, botToken, appToken, channelTemplate = DEFAULT_TEMPLATE, secretKeys } = connection;
  checkToken('bot_token', botToken);
  if (appToken !== undefined) checkToken('app_token', appToken);
  // Slack refuses them in each other's place only when they are used.
  if (botToken.startsWith(APP_TOKEN)) throw invalidRequest('bot_token', 'The bot token is a token of an app');
  if (appToken?.startsWith(APP_TOKEN) === false)
    throw invalidRequest('app_token', `The app token must begin with ${APP_TOKEN}`);
  const violation = findTemplateViolation(channelTemplate);
  if (violation !== undefined) throw invalidRequest('channel_template', `The template ${violation}`);
  const tokens = chatTokens(secretKeys).seal(workspaceId, { bot: botToken, app: appToken });
  await chatConnectionStore(database).put({ workspaceId, ...tokens, channelTemplate }, systemClock.now());
  return { channelTemplate, commands: appToken !== undefined };
}

/** How a token for the socket of commands begins. */
const APP_TOKEN = 'xapp-';

function checkToken(name: 'bot_token' | 'app_token', token: string): void {
  // The characters that a header can carry without spaces.
  if (!/^[\x21-\x7e]{1,512}$/.test(token)) {
    const label = name === 'bot_token' ? 'bot' : 'app';
    throw invalidRequest(name, `The ${label} token must be 1 to 512 printable ASCII characters without spaces`);
  }
}

/**
 * Sets whether changes of status and severity are posted into the channels of incidents (contract: Chat).
 * @throws DomainError `slack_not_configured`
 */
export async function setChannelUpdates(database: Knex, workspaceId: number, enabled: boolean): Promise<void> {
  if (!(await chatConnectionStore(database).setPostsUpdates(workspaceId, enabled, systemClock.now())))
    throw chatNotConfigured();
}

/** Disconnects a workspace from its chat; returns whether it was connected. Channels stay as they are. */
export const disconnectChat = async (database: Knex, workspaceId: number): Promise<boolean> =>
  chatConnectionStore(database).remove(workspaceId);

/** Whether the database contains data that is encrypted with the secret keys. */
export const holdsSecrets = async (database: Knex): Promise<boolean> =>
  (await chatConnectionStore(database).hasAny()) || (await addressStore(database).hasAny());

/** Connections whose tokens no key opens, of the most recent ones. */
export async function countUnopenedTokens(
  database: Knex,
  { secretKeys, limit }: { secretKeys: string; limit: number },
): Promise<{ checked: number; unopened: number }> {
  const tokens = chatTokens(secretKeys);
  const connections = await chatConnectionStore(database).listLatest(limit);
  const unopened = connections.filter((connection) => tokens.open(connection) === undefined);
  return { checked: connections.length, unopened: unopened.length };
}

/** Addresses that no key opens, of those of the most recent trackers. */
export async function countUnopenedTrackers(
  database: Knex,
  { secretKeys, limit }: { secretKeys: string; limit: number },
): Promise<{ checked: number; unopened: number }> {
  const keyring = trackerKeyring(secretKeys);
  const addresses = await addressStore(database).listLatest(limit);
  const unopened = addresses.filter((sealed) => openAddress(keyring, sealed.id, sealed) === undefined);
  return { checked: addresses.length, unopened: unopened.length };
}
