import { type Configuration, TocsinError } from '@tocsin/sdk';
import { type ReactNode, useMemo, useState } from 'react';
import { failureAt } from '../api/failures.ts';
import { useAccess, useGet, useWrite } from '../api/hooks.ts';
import { formatValue } from '../ui/format.ts';
import { say } from '../ui/toast.tsx';
import { Button, classes } from '../ui/button.tsx';
import { choices, type Options, Refusable, Select } from '../ui/fields.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { Loaded, NoPermission } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';
import { type Draft, EntryList, type ListName, type Row } from './configuration-list.tsx';
import css from './configuration.module.css';
import { RetentionCard } from './retention.tsx';

const PATH = '/settings/configuration';
const LISTS = [
  ['workflow_statuses', 'Statuses', 'In the order in which an incident goes through them.'],
  ['severities', 'Severities', 'The most severe one first. New incidents with a restricted one are restricted.'],
  ['service_tiers', 'Service tiers', 'How important a service is, the most important tier first.'],
  [
    'incident_roles',
    'Roles',
    'What people do in a response, beside its lead. Removed roles stay where somebody has them.',
  ],
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
          <Editor key={configuration.revision} configuration={configuration} canEdit={canManage} />
        )}
      </Loaded>
      <RetentionCard />
    </Page>
  );
}

function Editor({ configuration, canEdit }: { configuration: Configuration; canEdit: boolean }) {
  const [draft, setDraft] = useState<Draft>(configuration);
  const [replace, setReplace] = useState<Record<'statuses' | 'severities', Replacing>>({
    statuses: {},
    severities: {},
  });
  const [lead, setLead] = useState<string>(configuration.on_call_lead);
  const save = useWrite(PATH, '/configuration', '/incidents');
  const isChanged =
    lead !== configuration.on_call_lead ||
    LISTS.some(([name]) => JSON.stringify(draft[name]) !== JSON.stringify(configuration[name]));
  const removed = (name: ListName) =>
    configuration[name].filter(({ key }) => draft[name].every((each) => each.key !== key));
  const submit = () => {
    const { revision, ...settings } = configuration;
    const lists = LISTS.map(([name]) => [
      name,
      draft[name].map(({ id: _id, ...row }: Row) => ({ ...row, order: undefined })),
    ]);
    save.mutate(
      {
        method: 'PUT',
        path: PATH,
        revision,
        body: { ...settings, ...Object.fromEntries(lists), on_call_lead: lead, replace },
      },
      { onSuccess: () => say('The configuration is saved.') },
    );
  };
  const discard = () => {
    setDraft(configuration);
    setLead(configuration.on_call_lead);
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
          isChanged && <SaveBar fault={fault} busy={save.isPending} onDiscard={discard} onSave={submit} />
        }
      >
        {LISTS.map(([name, title, lead]) => (
          <Card key={name} title={title}>
            <div className={css.list}>
              <p className={ui.muted}>{lead}</p>
              <EntryList
                name={name}
                rows={draft[name]}
                canEdit={canEdit}
                onChange={(rows) => setDraft({ ...draft, [name]: rows })}
              />
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
        <LeadSetting lead={lead} canEdit={canEdit} onLead={setLead} />
        <EverythingElse {...configuration} />
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
    <Card title="Who leads new incidents" padded>
      {canEdit ? (
        <Select label={label} options={LEADS} value={lead} onValue={onLead} name="on_call_lead" />
      ) : (
        <p>{`${label} ${LEADS.find(([value]) => value === lead)?.[1]}`}</p>
      )}
    </Card>
  );
}

/** What is only shown. */
function EverythingElse({ exchange_rates: rates, timeline_groups: groups, time_zone: timeZone }: Configuration) {
  return (
    <Card title="Everything else" padded>
      <dl className={ui.terms}>
        <dt>Exchange rates</dt>
        <dd>{formatValue(rates.map(({ currency, rate }) => `${currency} ${rate}`))}</dd>
        <dt>Timeline groups</dt>
        <dd>{formatValue(groups.map(({ name }) => name))}</dd>
        <dt>Time zone</dt>
        <dd>{timeZone}</dd>
      </dl>
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
