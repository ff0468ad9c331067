import type { NewTracker, Tracker } from '@tocsin/sdk';
import type { Write } from '../api/client.ts';
import { useAccess } from '../api/hooks.ts';
import { EditDialog } from '../resources/edit-dialog.tsx';
import { Check, Input, Select } from '../ui/fields.tsx';
import { formatName } from '../ui/format.ts';
import ui from '../ui/ui.module.css';
import { type Chosen, chosenOf, describeChange, FilterFields, useFilters } from './destination-filters.tsx';

export const TRACKERS = '/settings/trackers';
/** The filters of destinations that trackers have, too. */
export const FILTERS: ReadonlySet<string> = new Set(['severities', 'services', 'team_ids']);

/** What a kind of tracker is called, and what its inputs are for. */
interface KindOfTracker {
  name: string;
  project: string;
  placeholder: string;
  credential: string;
  url?: string;
  /** Whether it works without an address. */
  hasUrl: boolean;
  hasTypes?: true;
}

/** The kinds of the API, each with what it needs (contract: Trackers). */
const KINDS: ReadonlyMap<string, KindOfTracker> = new Map([
  [
    'github',
    {
      ...{ name: 'GitHub', project: 'Repository', placeholder: 'acme/shop', credential: 'Fine-grained token' },
      ...{ url: 'https://github.example.com/api/v3', hasUrl: true },
    },
  ],
  [
    'jira',
    {
      ...{ name: 'Jira Cloud', project: 'Key of the project', placeholder: 'OPS' },
      ...{ credential: 'Email and token, as email:token', url: 'https://acme.atlassian.net', hasUrl: false },
      hasTypes: true,
    },
  ],
  [
    'gitlab',
    {
      ...{ name: 'GitLab', project: 'Path of the project', placeholder: 'acme/shop', credential: 'Access token' },
      ...{ url: 'https://gitlab.example.com', hasUrl: true },
    },
  ],
  ['linear', { name: 'Linear', project: 'Key of the team', placeholder: 'OPS', credential: 'API key', hasUrl: true }],
]);
const KIND_OPTIONS = [...KINDS].map(([kind, { name }]) => [kind, name] as const);

/** A kind that this page does not know has only a name. */
const kindOf = (kind: string): KindOfTracker =>
  KINDS.get(kind) ?? { name: formatName(kind), project: 'Project', placeholder: '', credential: 'Token', hasUrl: true };

export const nameOfKind = (kind: string): string => kindOf(kind).name;

/** What somebody types; secrets begin empty, and an empty one of a stored tracker changes nothing. */
interface Draft {
  kind: string;
  name: string;
  url: string;
  credential: string;
  project: string;
  issue_type: string;
  isAutomatic: boolean;
  filters: Chosen;
  include_restricted: boolean;
}

const NEW: Draft = {
  ...{ kind: 'github', name: '', url: '', credential: '', project: '', issue_type: '' },
  ...{ isAutomatic: false, filters: chosenOf({}), include_restricted: false },
};

const draftOf = ({ kind, name, project, issue_type, auto_filters, include_restricted }: Tracker): Draft => ({
  ...{ ...NEW, kind, name, project, issue_type, include_restricted },
  ...{ isAutomatic: auto_filters !== null, filters: chosenOf(auto_filters ?? {}) },
});

/** What is saved: only what the kind has, and no secret that was left empty. */
function settingsOf(draft: Draft): Omit<NewTracker, 'kind' | 'credential'> & { credential?: string } {
  const { name, url, credential, project, issue_type, isAutomatic, filters, include_restricted } = draft;
  const { severities, services, team_ids: teams } = filters;
  const { hasTypes = false } = kindOf(draft.kind);
  return {
    ...{ name, project: project.trim(), include_restricted },
    auto_filters: isAutomatic ? { severities, services, team_ids: teams.map(Number) } : null,
    ...(url.trim() !== '' && { url: url.trim() }),
    ...(credential.trim() !== '' && { credential: credential.trim() }),
    ...(hasTypes && issue_type.trim() !== '' && { issue_type: issue_type.trim() }),
  };
}

function requestOf(draft: Draft, tracker: Tracker | undefined): Write {
  const settings = settingsOf(draft);
  if (tracker === undefined) return { path: TRACKERS, body: { kind: draft.kind, ...settings } };
  const { id, revision } = tracker;
  return { method: 'PATCH', path: `${TRACKERS}/${id}`, revision, shown: tracker, body: settings };
}

/** Creates a tracker, or changes one. */
export function TrackerDialog({
  tracker,
  onCreated,
  onClose,
}: {
  tracker: Tracker | undefined;
  onCreated: (created: { tracker: Tracker; secret: string }) => void;
  onClose: () => void;
}) {
  const { seesAllRestricted } = useAccess();
  const filters = useFilters().filter(({ name }) => FILTERS.has(name));
  const initial = tracker === undefined ? NEW : draftOf(tracker);
  return (
    <EditDialog<Draft, { tracker: Tracker; secret: string }>
      title={tracker === undefined ? 'New tracker' : `Edit ${tracker.name}`}
      label={tracker === undefined ? 'Create' : 'Save'}
      initial={initial}
      request={(draft) => requestOf(draft, tracker)}
      refreshes={[TRACKERS, '/trackers']}
      describe={describeChange(filters)}
      onDone={(reply) => tracker === undefined && onCreated(reply)}
      onClose={onClose}
    >
      {(bind, draft) => {
        const kind = kindOf(draft.kind);
        const unchanged = 'It is not shown. Empty: unchanged.';
        return (
          <>
            {tracker === undefined ? (
              <Select label="Kind" options={KIND_OPTIONS} {...bind('kind')} />
            ) : (
              <p className={ui.muted}>{`${kind.name} · ${tracker.url}`}</p>
            )}
            <Input label="Name" placeholder="Issues of the shop" {...bind('name')} />
            {kind.url !== undefined && (
              <Input
                label="Address"
                type="url"
                placeholder={kind.url}
                hint={tracker !== undefined ? unchanged : kind.hasUrl ? 'Empty: that of the cloud.' : undefined}
                {...bind('url')}
              />
            )}
            <Input label={kind.project} placeholder={kind.placeholder} {...bind('project')} />
            <Input
              label={kind.credential}
              hint={tracker === undefined ? undefined : unchanged}
              spellCheck={false}
              {...bind('credential')}
            />
            {kind.hasTypes === true && <Input label="Type of tickets" placeholder="Task" {...bind('issue_type')} />}
            <Check label="Make a ticket of each new follow-up" {...bind('isAutomatic')} />
            {draft.isAutomatic && (
              <FilterFields
                legend="Of which incidents"
                hint="Of those that match every list."
                filters={filters}
                chosen={draft.filters}
                stored={initial.filters}
                onChosen={bind('filters').onValue}
              />
            )}
            {seesAllRestricted && (
              <Check
                label="Also make tickets of restricted incidents: whoever reads the tickets sees them."
                {...bind('include_restricted')}
              />
            )}
          </>
        );
      }}
    </EditDialog>
  );
}
