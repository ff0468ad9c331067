import { isDeepStrictEqual } from 'node:util';
import { checkRevision, DomainError, serviceUnavailable } from '@tocsin/http';
import { type Change, recordChange } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import {
  type ConfigurationLists,
  type ConfigurationListsView,
  listsView,
  toLists,
} from '../configuration/domain/configuration-document.ts';
import type { ConfigurationPart } from '../configuration/domain/configuration-part.ts';
import { configurationChanges } from '../configuration/store/configuration-changes.ts';
import type { Author } from '../incidents/author.ts';
import { assignGroupIds } from '../timeline/domain/timeline-group-ids.ts';
import { timelineGroupStore } from '../timeline/store/timeline-group-store.ts';
import { checkUse } from './check-use.ts';
import { checkReplacements, inUse, type Replacements, statusesWithOtherEnd } from './domain/replacements.ts';
import { mapIncidents } from './map-incidents.ts';
import { readLists, type TierOwner, type TierState } from './read-configuration.ts';

export interface ConfigurationCommand {
  /** Of which workspace, and who changes it. */
  by: Change;
  /** The lists to replace. */
  part: ConfigurationPart;
  tiers: TierOwner;
  /** The tiers, read before the transaction. */
  tierState: TierState;
  now: Instant;
  /** Of a request; the administration command has none of these limits. */
  request: ConfigurationRequest | undefined;
}

interface ConfigurationRequest {
  /** The revision that the client read. */
  expectedRevision: number;
  replace: Replacements;
  /** Who changes the incidents that `replace` concerns. */
  author: Author;
  /** How many incidents one request changes. */
  maxIncidents: number;
}

export interface ChangedConfiguration {
  lists: ConfigurationLists;
  /** Of the configuration. */
  version: number;
  /** Of the service tiers; `undefined` if they stayed. */
  tiersVersion: number | undefined;
  isChanged: boolean;
  /** How many incidents have changed. */
  incidents: number;
  /** About how many bytes the changes of incidents have added. */
  written: number;
}

/**
 * Replaces lists of a workspace's configuration in one transaction, for the API and for the administration command
 * (contract: Configuration). The caller has created the counter, and makes the gateway raise the workspace's version after
 * the commit.
 * @throws DomainError `precondition_failed`, `invalid_request` for a replacement, `invalid_resource_state` for what is in use,
 *   `service_unavailable` if the catalog does not prepare the service tiers, in this order
 */
export async function changeConfiguration(
  trx: Knex.Transaction,
  command: ConfigurationCommand,
): Promise<ChangedConfiguration> {
  const { by, part, request, now } = command;
  const workspaceId = by.workspace.id;
  const replace = request?.replace ?? {};
  const changes = configurationChanges(trx, workspaceId);
  await changes.lock();
  const before = await readLists(trx, workspaceId, command.tierState);
  if (request !== undefined) checkRevision(before.version + 1, request.expectedRevision);
  const requested = toLists(part);
  const groups = part.timeline_groups && assignGroupIds(part.timeline_groups, before.lists.groups);
  const after: ConfigurationLists = { ...before.lists, ...requested, ...(groups && { groups }) };
  checkReplacements(replace, { before: before.lists, after });
  const isSame = (name: keyof ConfigurationLists) => isDeepStrictEqual(after[name], before.lists[name]);
  if ((Object.keys(after) as (keyof ConfigurationLists)[]).every(isSame)) {
    return {
      lists: after,
      version: before.version,
      tiersVersion: undefined,
      isChanged: false,
      incidents: 0,
      written: 0,
    };
  }

  await checkUse(trx, { workspaceId, before: before.lists, after, replace });
  const { mapped, ended } = await findIncidents(trx, { command, before: before.lists, after });
  await changes.write({
    ...(!isSame('statuses') && { workflowStatuses: after.statuses }),
    ...(!isSame('severities') && { severities: after.severities }),
    ...(!isSame('exchangeRates') && { exchangeRates: after.exchangeRates }),
  });
  if (!isSame('groups')) await timelineGroupStore(trx, workspaceId).replace(after.groups);
  const written =
    request === undefined
      ? 0
      : await mapIncidents(trx, {
          ids: mapped,
          replace,
          statuses: after.statuses,
          workspaceId,
          author: request.author,
          now,
        });
  await changes.realignEnds(ended, after.statuses);
  const version = await changes.raiseVersion();
  // Last, because the catalog waits for the end of this transaction before it gives a service a tier.
  const tiersVersion = isSame('tiers') ? undefined : await prepareTiers(command, before.tiersVersion, after.tiers);
  if (tiersVersion !== undefined) await changes.write({ tiersVersion });
  await recordChange(trx, by, {
    action: 'configuration.replaced',
    target: { type: 'configuration', id: String(workspaceId) },
    ...differences(listsView(before.lists), listsView(after)),
    now,
  });
  return { lists: after, version, tiersVersion, isChanged: true, incidents: mapped.length + ended.length, written };
}

/** The lists that are not the same, before and after. */
function differences(before: ConfigurationListsView, after: ConfigurationListsView) {
  const isChanged = ([name, list]: [string, unknown]) => !isDeepStrictEqual(list, before[name as keyof typeof before]);
  const changed = Object.fromEntries(Object.entries(after).filter(isChanged));
  return {
    before: Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(changed, name))),
    after: changed,
  };
}

/** Finds the incidents that get another status or severity, and those that another terminal flag of their status concerns. */
async function findIncidents(
  trx: Knex.Transaction,
  options: { command: ConfigurationCommand; before: ConfigurationLists; after: ConfigurationLists },
): Promise<{ mapped: number[]; ended: number[] }> {
  const { command, before, after } = options;
  const { replace = {}, maxIncidents } = command.request ?? {};
  const changes = configurationChanges(trx, command.by.workspace.id);
  const limit = maxIncidents === undefined ? undefined : maxIncidents + 1;
  const mapped = await changes.listWithKeys(
    { status: Object.keys(replace.statuses ?? {}), severity: Object.keys(replace.severities ?? {}) },
    limit,
  );
  const status = statusesWithOtherEnd(before.statuses, after.statuses);
  const ended = await changes.listWithKeys({ status, severity: [] }, limit);
  if (maxIncidents !== undefined && mapped.length + ended.length > maxIncidents) {
    throw new DomainError(
      'invalid_resource_state',
      `The request would change more than ${maxIncidents} incidents: change the status or the severity of some of them first`,
      { details: { max_incidents: maxIncidents } },
    );
  }
  return { mapped, ended };
}

/** @returns the version that the list has when it is committed */
async function prepareTiers(
  { tiers: owner, tierState }: ConfigurationCommand,
  committed: number,
  tiers: ConfigurationLists['tiers'],
): Promise<number> {
  // Above both, also if one of the databases was restored to an earlier moment.
  const version = Math.max(committed, tierState.version) + 1;
  const preparation = await owner.prepare({
    read_version: tierState.version,
    committed_version: committed,
    version,
    tiers: [...tiers],
  });
  if (preparation.outcome === 'prepared') return version;
  if (preparation.outcome === 'changed_since') {
    throw serviceUnavailable('The service tiers of the workspace are changing; try again');
  }
  const { services } = preparation;
  const used = services.map(({ tier, count, slug }) => `${tier} (${count}, for example ${slug})`).join('; ');
  throw inUse('service_tiers', `Tiers that services have cannot be removed: ${used}`, {
    service_tiers: Object.fromEntries(services.map(({ tier, count }) => [tier, count])),
  });
}
