/**
 * `configuration-changes` replaces the lists of a configuration (contract: Configuration). The service tiers belong to
 * the catalog, which is asked for them first. Then one transaction locks the row of the workspace's counter, for which
 * creates and changes of status wait, checks the revision and what is in use, writes the lists, gives incidents with a
 * replaced key their revision, changelog entry and event, and raises the version. Last, the catalog prepares new tiers,
 * which apply if, and only if, this transaction commits (ADR 55): a crash in between leaves them prepared, and the
 * catalog asks which version was committed. A change by a request also stores that the gateway has to raise the
 * workspace's version, which makes the change visible; `announcements.ts` tries that until it succeeds, also for
 * processes that have died.
 */
import { checkRevision, DomainError, jsonEqual, serviceUnavailable } from '@tocsin/http';
import { type Change, recordChange } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { changedProperties } from '@tocsin/versioned-resources';
import {
  type ConfigurationLists,
  type ConfigurationListsView,
  listsView,
  toLists,
} from '../configuration/domain/configuration-document.ts';
import type { ConfigurationPart } from '../configuration/domain/configuration-part.ts';
import { configurationChanges } from '../configuration/store/configuration-changes.ts';
import { configuredIncidents } from '../configuration/store/configured-incidents.ts';
import type { Author } from '../incidents/save-incident.ts';
import {
  assignGroupIds,
  checkReplacements,
  inUse,
  type Replacements,
  statusesWithOtherEnd,
  type ListChange,
  removedKeys,
} from './domain/replacements.ts';
import { timelineGroupStore } from '../timeline/store/timeline-group-store.ts';
import { mapIncidents } from './map-incidents.ts';
import { readLists, type TierOwner, type TierState } from './read-configuration.ts';

interface ConfigurationCommand {
  /** Of which workspace, and who changes it. */
  by: Change;
  /** What to replace. */
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
  /** The places of the groups whose IDs this change assigned. */
  newGroups: number[];
  /** How many incidents have changed. */
  incidents: number;
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
  const isSame = (name: keyof ConfigurationLists) => jsonEqual(after[name], before.lists[name]);
  if ((Object.keys(after) as (keyof ConfigurationLists)[]).every(isSame)) {
    return {
      lists: after,
      version: before.version,
      tiersVersion: undefined,
      isChanged: false,
      newGroups: [],
      incidents: 0,
    };
  }

  await checkUse(trx, { workspaceId, before: before.lists, after, replace });
  const { mapped, ended } = await findIncidents(trx, { command, before: before.lists, after });
  await changes.write({
    ...(!isSame('statuses') && { workflowStatuses: after.statuses }),
    ...(!isSame('severities') && { severities: after.severities }),
    ...(!isSame('incidentRoles') && { incidentRoles: after.incidentRoles }),
    ...(!isSame('exchangeRates') && { exchangeRates: after.exchangeRates }),
    ...(!isSame('timeZone') && { timeZone: after.timeZone }),
    ...(!isSame('onCallLead') && { onCallLead: after.onCallLead }),
    ...(!isSame('postmortemTemplate') && { postmortemTemplate: after.postmortemTemplate }),
  });
  if (!isSame('groups')) await timelineGroupStore(trx, workspaceId).replace(after.groups);
  if (request !== undefined) {
    const mapping = { replace, statuses: after.statuses, workspaceId, author: request.author, now };
    await mapIncidents(trx, { ids: mapped, ...mapping });
  }
  await configuredIncidents(trx, workspaceId).realignEnds(ended, after.statuses);
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
  const givenIds = new Set([...before.lists.groups, ...(part.timeline_groups ?? [])].map(({ id }) => id));
  const newGroups = after.groups.flatMap(({ id }, place) => (givenIds.has(id) ? [] : place));
  const incidents = mapped.length + ended.length;
  return { lists: after, version, tiersVersion, isChanged: true, newGroups, incidents };
}

/** What is not the same, before and after. */
function differences(before: ConfigurationListsView, after: ConfigurationListsView) {
  const changed = changedProperties(before, after) ?? {};
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
  const incidents = configuredIncidents(trx, command.by.workspace.id);
  const limit = maxIncidents === undefined ? undefined : maxIncidents + 1;
  const mapped = await incidents.listWithKeys(
    { status: Object.keys(replace.statuses ?? {}), severity: Object.keys(replace.severities ?? {}) },
    limit,
  );
  const status = statusesWithOtherEnd(before.statuses, after.statuses);
  const ended = await incidents.listWithKeys({ status, severity: [] }, limit);
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

const LISTS = {
  status: { list: 'statuses', field: 'workflow_statuses' },
  severity: { list: 'severities', field: 'severities' },
} as const;

/**
 * Refuses to remove statuses and severities that incidents, archived ones included, have and that nothing replaces, and
 * groups with timeline events.
 * @throws DomainError `invalid_resource_state`, which counts what has each of them
 */
async function checkUse(
  trx: Knex.Transaction,
  { workspaceId, before, after, replace }: ListChange & { workspaceId: number; replace: Replacements },
): Promise<void> {
  const unmapped = (list: 'statuses' | 'severities') =>
    removedKeys(before[list], after[list]).filter((key) => !Object.hasOwn(replace[list] ?? {}, key));
  const uses = await configuredIncidents(trx, workspaceId).countUses({
    status: unmapped('statuses'),
    severity: unmapped('severities'),
  });
  const [first] = uses;
  if (first !== undefined) {
    const counts = (column: keyof typeof LISTS) => uses.filter(({ field }) => field === column);
    const details = Object.fromEntries(
      (Object.keys(LISTS) as (keyof typeof LISTS)[])
        .filter((column) => counts(column).length > 0)
        .map((column) => [
          LISTS[column].list,
          Object.fromEntries(counts(column).map(({ key, count }) => [key, count])),
        ]),
    );
    const message = `The ${first.field} ${first.key} cannot be removed: incidents have it (${first.count}, archived ones included)`;
    throw inUse(LISTS[first.field].field, message, details);
  }

  const kept = new Set(after.groups.map(({ id }) => id));
  const removed = before.groups.filter(({ id }) => !kept.has(id));
  const used = await timelineGroupStore(trx, workspaceId).countEvents(removed.map(({ id }) => id));
  const [group] = used;
  if (group === undefined) return;
  const name = removed.find(({ id }) => id === group.id)?.name ?? '';
  throw inUse(
    'timeline_groups',
    `The group ${group.id} (${name}) cannot be removed: it has timeline events (${group.count})`,
    { timeline_groups: Object.fromEntries(used.map(({ id, count }) => [String(id), count])) },
  );
}
