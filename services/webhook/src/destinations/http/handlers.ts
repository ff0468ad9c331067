import { type RestrictedCaller, type RouteRequest, seesRestricted } from '@tocsin/http';
import { changeBy } from '@tocsin/messaging';
import { definedProperties } from '@tocsin/versioned-resources';
import { calledStatusOf } from '@tocsin/safe-http';
import type { MessageOutcome, Transport } from '../clients/transport.ts';
import {
  archiveDestination,
  createDestination,
  type DestinationDependencies,
  pauseDestination,
  resumeDestination,
  type Settings,
  updateDestination,
} from '../destination-commands.ts';
import { type Destination, type Filters, NO_FILTERS } from '../domain/destination.ts';
import { destinationStore } from '../store/destination-store.ts';
import { type RunningTests, testDestination } from '../test-destination.ts';
import type { DestinationApi } from './contracts.ts';
import type { DestinationWire } from './wire.ts';

/** Characters of an answer that are shown. */
const SHOWN = 1_000;

export function destinationHandlers(dependencies: DestinationDependencies & { send: Transport }): DestinationApi {
  const runningTests: RunningTests = new Set();
  return {
    listDestinations: async ({ principal }) => {
      const destinations = await destinationStore(dependencies.database, principal.workspace.id).list();
      return { body: { destinations: destinations.map((each) => viewOf(each, principal)) } };
    },

    getDestination: async ({ principal, params: { id } }) =>
      replyOf(await destinationStore(dependencies.database, principal.workspace.id).get(id), principal),

    createDestination: async (request) => {
      const { name, kind, url = '', credential = '', recipients = [], headers = {}, template = null } = request.body;
      const { filters, include_restricted: includeRestricted = false } = request.body;
      const address = { url, credential, headers };
      const settings = { name: name.trim(), ...address, recipients, filters: filtersOf(filters), template };
      return replyOf(
        await createDestination(dependencies, {
          ...changeBy(request),
          ...{ caller: request.principal, kind, settings: { ...settings, includeRestricted } },
        }),
        request.principal,
      );
    },

    updateDestination: async (request) => {
      const { include_restricted: includeRestricted, filters, ...others } = request.body;
      const { name, url, credential, recipients, headers, template } = others;
      const given = {
        name: name?.trim(),
        url,
        credential: credential === null ? '' : credential,
        recipients,
        headers,
        template,
      };
      const settings = { ...given, includeRestricted, filters: filters && filtersOf(filters) };
      const { expectedRevision } = request;
      return replyOf(
        await updateDestination(dependencies, {
          ...commandOf(request),
          ...{ expectedRevision, settings: definedProperties<Settings>(settings) },
        }),
        request.principal,
      );
    },

    testDestination: async ({ principal: { workspace }, params: { id } }) => ({
      body: { test: testView(await testDestination({ ...dependencies, runningTests }, { workspace, id })) },
    }),

    pauseDestination: async (request) =>
      replyOf(await pauseDestination(dependencies, commandOf(request)), request.principal),
    resumeDestination: async (request) =>
      replyOf(await resumeDestination(dependencies, commandOf(request)), request.principal),
    archiveDestination: async (request) =>
      replyOf(await archiveDestination(dependencies, commandOf(request)), request.principal),
  };
}

/** An absent filter selects all. */
const filtersOf = (given: { [Name in keyof Filters]?: Filters[Name] | undefined } = {}): Filters => ({
  ...NO_FILTERS,
  ...definedProperties<Filters>(given as { [Name in keyof Filters]: Filters[Name] | undefined }),
});

const commandOf = (request: RouteRequest<{ id: number }, unknown, unknown>) => ({
  ...changeBy(request),
  ...{ id: request.params.id, caller: request.principal },
});

const replyOf = (destination: Destination, caller: RestrictedCaller) => ({
  body: { destination: viewOf(destination, caller) },
  revision: destination.revision,
});

/** What came of messages about restricted incidents says that there are some. */
const UNKNOWN = { failingSince: null, lastSuccessAt: null, lastFailure: null, leftOut: 0 } as const;

function viewOf(stored: Destination, caller: RestrictedCaller): DestinationWire {
  const destination = stored.includeRestricted && !seesRestricted(caller) ? { ...stored, ...UNKNOWN } : stored;
  const { id, revision, name, kind, origin, recipients, filters, template, failingSince, lastFailure } = destination;
  return {
    ...{ id, revision, name, kind, url: origin },
    has_credential: destination.hasCredential,
    header_names: [...destination.headerNames],
    recipients: [...recipients],
    filters: {
      event_types: [...filters.event_types],
      timeline_types: [...filters.timeline_types],
      severities: [...filters.severities],
      statuses: [...filters.statuses],
      services: [...filters.services],
      team_ids: [...filters.team_ids],
      roles: [...filters.roles],
    },
    template,
    include_restricted: destination.includeRestricted,
    status: calledStatusOf(destination),
    last_success_at: destination.lastSuccessAt,
    last_failure: lastFailure,
    retry_at: failingSince === null ? null : destination.dueAt,
    left_out: destination.leftOut,
    created_at: destination.createdAt,
    updated_at: destination.updatedAt,
    archived_at: destination.archivedAt,
  };
}

const testView = (outcome: MessageOutcome) => ({
  is_accepted: outcome.kind === 'success',
  reason: outcome.kind === 'success' ? null : outcome.reason,
  status: outcome.status ?? null,
  answer: [...(outcome.answer ?? '')].slice(0, SHOWN).join(''),
});
