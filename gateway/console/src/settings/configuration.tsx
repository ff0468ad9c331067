import { sectionsOf, type TemplateSection } from '@tocsin/schemas/postmortem-template';
import { type Configuration, TocsinError } from '@tocsin/sdk';
import { type ReactNode, useId, useMemo, useState } from 'react';
import { failureAt } from '../api/failures.ts';
import { useAccess, useGet, useWrite } from '../api/hooks.ts';
import { say } from '../ui/toast.tsx';
import { Button, classes } from '../ui/button.tsx';
import { choices, Input, type Options, Refusable, Select } from '../ui/fields.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { Loaded, NoPermission } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';
import { EntryList, type ListName, type Row } from './configuration-list.tsx';
import css from './configuration.module.css';
import { Groups, groupsOf, Rates, ratesOf } from './rates-and-groups.tsx';
import { PostmortemTemplate, templateOf } from './postmortem-template.tsx';
import { RetentionCard } from './retention.tsx';

const PATH = '/settings/configuration';
const LISTS = [
  [
    'workflow_statuses',
    'Statuses',
    'In the order in which an incident goes through them. Tocsin does not escalate itself; your tools can, from those that say so.',
  ],
  [
    'severities',
    'Severities',
    'The most severe one first. New incidents with a restricted one are restricted. Scores are for tools that compute a severity.',
  ],
  ['service_tiers', 'Service tiers', 'How important a service is, the most important tier first.'],
  [
    'incident_roles',
    'Roles',
    'What people do in a response, beside its lead. Removed roles stay where somebody has them.',
  ],
] as const;

/** The cards of the page, by their IDs. */
const PARTS = [
  ...LISTS,
  ['lead', 'Lead'],
  ['zone', 'Time zone'],
  ['groups', 'Groups'],
  ['rates', 'Rates'],
  ['template', 'Post-mortems'],
  ['retention', 'Retention'],
] as const;

const LEADS: Options = [
  ['off', 'does not lead, unless somebody says so'],
  ['suggest', 'is suggested when an incident is declared'],
  ['set', 'leads, unless the declarer names somebody'],
];

/** The keys of removed entries, each with that of the one that its incidents get instead. */
type Replacing = Readonly<Record<string, string>>;
/** What the API calls the replacements of a list. */
const REPLACED = { workflow_statuses: 'statuses', severities: 'severities' } as const;

const OUTDATED = 'Somebody changed the configuration meanwhile. Reload the page.';

export function ConfigurationPage() {
  const { canManage } = useAccess();
  const query = useGet<{ configuration: Configuration }>(PATH);
  if (query.error?.status === 403) {
    return <NoPermission title="Configuration" what="see the configuration" />;
  }
  return (
    <Page
      title="Configuration"
      guide="configuration"
      lead="The words of your workspace. A status or severity that incidents have can be removed only if they get another one."
    >
      <Loaded query={query}>
        {({ configuration }) => (
          <>
            <nav aria-label="On this page" className={ui.tabs}>
              {PARTS.map(([id, name]) => (
                <a key={id} href={`#${id}`} className={ui.tab}>
                  {name}
                </a>
              ))}
            </nav>
            <div className={ui.stack}>
              <Editor key={configuration.revision} configuration={configuration} canEdit={canManage} />
              <RetentionCard />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** What the page changes, with the rows as they are typed. */
const draftOf = (configuration: Configuration) => {
  const { revision: _revision, postmortem_template: template, ...settings } = configuration;
  return {
    ...settings,
    ...{ exchange_rates: ratesOf(configuration), timeline_groups: groupsOf(configuration) },
    template: sectionsOf(template),
  };
};
type Draft = Omit<ReturnType<typeof draftOf>, ListName | 'template'> &
  Record<ListName, readonly Row[]> & { template: readonly TemplateSection[] };

/** A number as it is typed; what is none goes to the server, which names the field. */
const numberOf = (typed: number | string | undefined): unknown =>
  typed === undefined || String(typed).trim() === '' || Number.isNaN(Number(typed)) ? typed : Number(typed);

/** The body of the request. The place of an entry decides its order. */
const bodyOf = ({ template, ...draft }: Draft, initial: Draft) => ({
  ...draft,
  // A template that nobody changes stays as it is written.
  ...(template !== initial.template && { postmortem_template: templateOf(template) }),
  ...Object.fromEntries(
    LISTS.map(([name]) => [
      name,
      draft[name].map(({ id: _id, min_score: score, ...row }) => ({
        ...{ ...row, order: undefined },
        ...(name === 'severities' && { min_score: numberOf(score) }),
      })),
    ]),
  ),
  exchange_rates: draft.exchange_rates.map(({ row: _row, rate, ...each }) => ({ ...each, rate: numberOf(rate) })),
  timeline_groups: draft.timeline_groups.map(({ row: _row, ...group }) => group),
});

function Editor({ configuration, canEdit }: { configuration: Configuration; canEdit: boolean }) {
  const initial = useMemo<Draft>(() => draftOf(configuration), [configuration]);
  const [draft, setDraft] = useState(initial);
  const [replace, setReplace] = useState<Record<'statuses' | 'severities', Replacing>>({
    statuses: {},
    severities: {},
  });
  const save = useWrite(PATH, '/configuration', '/incidents');
  const isChanged = JSON.stringify(draft) !== JSON.stringify(initial);
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const removed = (name: ListName) => initial[name].filter(({ key }) => draft[name].every((each) => each.key !== key));
  const submit = () => {
    save.mutate(
      { method: 'PUT', path: PATH, revision: configuration.revision, body: { ...bodyOf(draft, initial), replace } },
      { onSuccess: () => say('The configuration is saved.') },
    );
  };
  const { error } = save;
  const refusal = useMemo(() => {
    if (error?.status === 412) return new TocsinError('precondition_failed', OUTDATED, { status: 412 });
    const title = LISTS.find(([name]) => name === error?.field)?.[1];
    return title === undefined ? error : error && failureAt(title, error);
  }, [error]);
  return (
    <div className={ui.stack}>
      <Refusable
        error={refusal}
        foot={(fault) =>
          isChanged && (
            <SaveBar fault={fault} busy={save.isPending} onDiscard={() => setDraft(initial)} onSave={submit} />
          )
        }
      >
        {LISTS.map(([name, title, lead]) => (
          <Card key={name} id={name} title={title}>
            <div className={css.list}>
              <p className={ui.muted}>{lead}</p>
              <EntryList name={name} rows={draft[name]} canEdit={canEdit} onChange={(rows) => set({ [name]: rows })} />
              {(name === 'workflow_statuses' || name === 'severities') && (
                <Replacements
                  removed={removed(name)}
                  remaining={draft[name]}
                  replacing={replace[REPLACED[name]]}
                  onChange={(replacing) => setReplace({ ...replace, [REPLACED[name]]: replacing })}
                />
              )}
            </div>
          </Card>
        ))}
        <LeadSetting lead={draft.on_call_lead} canEdit={canEdit} onLead={(lead) => set({ on_call_lead: lead })} />
        <TimeZoneSetting zone={draft.time_zone} canEdit={canEdit} onZone={(zone) => set({ time_zone: zone })} />
        <Groups
          rows={draft.timeline_groups}
          canEdit={canEdit}
          onChange={(groups) => set({ timeline_groups: groups })}
        />
        <Rates rows={draft.exchange_rates} canEdit={canEdit} onChange={(rates) => set({ exchange_rates: rates })} />
        <PostmortemTemplate
          sections={draft.template}
          canEdit={canEdit}
          onChange={(sections) => set({ template: sections })}
        />
        {!canEdit && <p className={ui.muted}>Only owners and admins change the configuration.</p>}
      </Refusable>
    </div>
  );
}

function SaveBar({
  fault,
  busy,
  onDiscard,
  onSave,
}: {
  fault: ReactNode;
  busy: boolean;
  onDiscard: () => void;
  onSave: () => void;
}) {
  return (
    <div className={classes(ui.card, css.bar)}>
      {fault}
      <Button onClick={onDiscard}>Discard</Button>
      <Button kind="primary" busy={busy} onClick={onSave}>
        Save
      </Button>
    </div>
  );
}

function LeadSetting({ lead, canEdit, onLead }: { lead: string; canEdit: boolean; onLead: (lead: string) => void }) {
  const label = 'Who is on call for the team';
  return (
    <Card id="lead" title="Who leads new incidents" padded>
      {canEdit ? (
        <Select label={label} options={LEADS} value={lead} onValue={onLead} name="on_call_lead" />
      ) : (
        <p>{`${label} ${LEADS.find(([value]) => value === lead)?.[1]}`}</p>
      )}
    </Card>
  );
}

/** The zones that the browser knows. */
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone.includes('/'))];

function TimeZoneSetting({
  zone,
  canEdit,
  onZone,
}: {
  zone: string;
  canEdit: boolean;
  onZone: (zone: string) => void;
}) {
  const id = useId();
  return (
    <Card id="zone" title="Time zone" padded>
      <Input
        label="Zone of the workspace"
        name="time_zone"
        list={id}
        hint="Days of statistics, names of channels, texts, and times without a zone in imports are in it. The API always says UTC."
        readOnly={!canEdit}
        value={zone}
        onValue={onZone}
      />
      <datalist id={id}>
        {ZONES.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </Card>
  );
}

/** Asks, for each removed entry, which one its incidents get instead. */
function Replacements({
  removed,
  remaining,
  replacing,
  onChange,
}: {
  removed: readonly Row[];
  remaining: readonly Row[];
  replacing: Replacing;
  onChange: (replacing: Replacing) => void;
}) {
  return removed.map(({ key, label }) => (
    <Select
      key={key}
      label={`Incidents that are ${label} become`}
      options={[['', 'Nothing: refuse if there are any'], ...choices(remaining, 'key', 'label')]}
      value={replacing[key] ?? ''}
      onValue={(value) => {
        const { [key]: _removed, ...others } = replacing;
        onChange(value === '' ? others : { ...others, [key]: value });
      }}
    />
  ));
}
