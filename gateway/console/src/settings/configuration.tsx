import { type Configuration, type ServiceTier, type Severity, TocsinError, type WorkflowStatus } from '@tocsin/sdk';
import { useMemo, useState } from 'react';
import { failureAt } from '../api/failures.ts';
import { useAccess, useGet, useWrite } from '../api/hooks.ts';
import { formatValue } from '../ui/format.ts';
import { say } from '../ui/toast.tsx';
import { Button, classes } from '../ui/button.tsx';
import { Check, Input, Refusable, Select, choices } from '../ui/fields.tsx';
import { colourOf } from '../incidents/incident-labels.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { Loaded, NoPermission } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';
import css from './configuration.module.css';

const PATH = '/settings/configuration';
type Draft = Pick<Configuration, 'workflow_statuses' | 'severities' | 'service_tiers'>;
type ListName = keyof Draft;
/** An entry with what some lists have besides. */
type Row = Pick<ServiceTier, 'key' | 'label' | 'is_default'> &
  Partial<Pick<WorkflowStatus, 'is_terminal' | 'color'> & Pick<Severity, 'min_score'>> & {
    /** Of an entry that is not stored yet. */
    id?: string;
  };

const LISTS = [
  ['workflow_statuses', 'Statuses', 'In the order in which an incident goes through them.'],
  ['severities', 'Severities', 'The most severe one first.'],
  ['service_tiers', 'Service tiers', 'How important a service is, the most important tier first.'],
] as const;

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
    </Page>
  );
}

function Editor({ configuration, canEdit }: { configuration: Configuration; canEdit: boolean }) {
  const [draft, setDraft] = useState<Draft>(configuration);
  const [replace, setReplace] = useState<Record<'statuses' | 'severities', Record<string, string>>>({
    statuses: {},
    severities: {},
  });
  const save = useWrite(PATH, '/configuration', '/incidents');
  const isChanged = LISTS.some(([name]) => JSON.stringify(draft[name]) !== JSON.stringify(configuration[name]));
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
        body: { ...settings, ...Object.fromEntries(lists), replace },
      },
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
            <div className={classes(ui.card, css.bar)}>
              {fault}
              <Button onClick={() => setDraft(configuration)}>Discard</Button>
              <Button kind="primary" busy={save.isPending} onClick={submit}>
                Save
              </Button>
            </div>
          )
        }
      >
        {LISTS.map(([name, title, lead]) => (
          <Card key={name} title={title}>
            <div className={css.list}>
              <p className={ui.muted}>{lead}</p>
              <List
                name={name}
                rows={draft[name]}
                canEdit={canEdit}
                onChange={(rows) => setDraft({ ...draft, [name]: rows })}
              />
              {name !== 'service_tiers' &&
                removed(name).map(({ key, label }) => {
                  const kind = name === 'severities' ? 'severities' : 'statuses';
                  return (
                    <Select
                      key={key}
                      label={`Incidents that are ${label} become`}
                      options={[['', 'Nothing: refuse if there are any'], ...choices(draft[name], 'key', 'label')]}
                      value={replace[kind][key] ?? ''}
                      onValue={(value) => {
                        const { [key]: _removed, ...others } = replace[kind];
                        setReplace({ ...replace, [kind]: value === '' ? others : { ...others, [key]: value } });
                      }}
                    />
                  );
                })}
            </div>
          </Card>
        ))}
        <Card title="Everything else" padded>
          <dl className={ui.terms}>
            <dt>Exchange rates</dt>
            <dd>{formatValue(configuration.exchange_rates.map(({ currency, rate }) => `${currency} ${rate}`))}</dd>
            <dt>Timeline groups</dt>
            <dd>{formatValue(configuration.timeline_groups.map(({ name }) => name))}</dd>
            <dt>Time zone</dt>
            <dd>{configuration.time_zone}</dd>
          </dl>
        </Card>
        {!canEdit && <p className={ui.muted}>Only owners and admins change the configuration.</p>}
      </Refusable>
    </div>
  );
}

function List({
  name,
  rows,
  canEdit,
  onChange,
}: {
  name: ListName;
  rows: readonly Row[];
  canEdit: boolean;
  onChange: (rows: Row[]) => void;
}) {
  const set = (index: number, change: Partial<Row>) =>
    onChange(rows.with(index, { ...(rows[index] as Row), ...change }));
  /** Scores stay where they are: they fall with the place. */
  const move = (index: number, by: number) => {
    const row = rows[index] as Row;
    const moved = rows.toSpliced(index, 1).toSpliced(index + by, 0, row);
    onChange(moved.map((each, at) => ({ ...each, ...(name === 'severities' && { min_score: rows[at]?.min_score }) })));
  };
  const fresh = (): Row => ({
    ...{ id: crypto.randomUUID(), key: '', label: '', is_default: rows.length === 0 },
    ...(name !== 'service_tiers' && { color: colourOf(undefined) }),
    ...(name === 'severities' && { min_score: rows.at(-1)?.min_score ?? 0 }),
  });
  return (
    <>
      <ul className={css.rows}>
        {rows.map((row, index) => (
          <li key={row.id ?? row.key} className={css.row}>
            {row.color === undefined ? (
              <span />
            ) : (
              <input
                type="color"
                className={css.colour}
                aria-label={`Colour of ${row.label}`}
                disabled={!canEdit}
                value={colourOf(row.color)}
                onChange={({ target }) => set(index, { color: target.value })}
              />
            )}
            {row.id === undefined ? (
              <code>{row.key}</code>
            ) : (
              <Input
                bare
                name={`${name}.${index}.key`}
                label="Key"
                placeholder="key"
                value={row.key}
                onValue={(key) => set(index, { key })}
              />
            )}
            <Input
              bare
              name={`${name}.${index}.label`}
              label={`Name of ${row.key}`}
              readOnly={!canEdit}
              value={row.label}
              onValue={(label) => set(index, { label })}
            />
            <label className={ui.check}>
              <input
                type="radio"
                name={`${name}-default`}
                disabled={!canEdit}
                checked={row.is_default}
                onChange={() => onChange(rows.map((each, other) => ({ ...each, is_default: other === index })))}
              />
              Default
            </label>
            {'is_terminal' in row || name === 'workflow_statuses' ? (
              <Check
                label="Ends it"
                disabled={!canEdit}
                value={row.is_terminal === true}
                onValue={(isTerminal) => set(index, { is_terminal: isTerminal })}
              />
            ) : (
              <span />
            )}
            {canEdit && (
              <span className={css.tools}>
                {(
                  [
                    ['up', '↑', -1],
                    ['down', '↓', 1],
                  ] as const
                ).map(([direction, arrow, by]) => (
                  <Button
                    key={direction}
                    kind="quiet"
                    small
                    // Not disabled: whoever moves with the keyboard would lose the focus at the end.
                    aria-disabled={rows[index + by] === undefined}
                    aria-label={`Move ${row.label} ${direction}`}
                    onClick={() => rows[index + by] !== undefined && move(index, by)}
                  >
                    {arrow}
                  </Button>
                ))}
                <Button
                  kind="quiet"
                  small
                  icon="close"
                  aria-label={`Remove ${row.label}`}
                  onClick={() => onChange(rows.toSpliced(index, 1))}
                />
              </span>
            )}
          </li>
        ))}
      </ul>
      {canEdit && (
        <div>
          <Button small icon="plus" onClick={() => onChange([...rows, fresh()])}>
            Add
          </Button>
        </div>
      )}
    </>
  );
}
