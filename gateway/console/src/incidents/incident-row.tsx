import type { Incident } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { useConfiguration, useNameOf, useTeams } from '../api/hooks.ts';
import { classes } from '../ui/button.tsx';
import { Check } from '../ui/fields.tsx';
import { formatDuration, formatMoment, formatSpan, formatTime } from '../ui/format.ts';
import { Ago } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import type { Selection } from './bulk.tsx';
import { DeclaredByKey, Restricted, ServiceName, SeverityBadge, StatusText, UpdateDue } from './incident-labels.tsx';
import css from './incidents.module.css';

/**
 * An incident in a list. A list can have thousands of them: a row changes when its incident does, or its box.
 * @param props `isChosen` is absent where rows are not chosen
 */
export const IncidentRow = memo(function IncidentRow({
  incident,
  isChosen,
  choose,
}: {
  incident: Incident;
  isChosen?: boolean | undefined;
  choose?: Selection['choose'];
}) {
  const nameOf = useNameOf();
  const team = useTeams().data?.find(({ id }) => id === incident.team_id)?.name;
  const { statuses } = useConfiguration();
  const isOver = statuses.find(({ key }) => key === incident.status)?.is_terminal === true;
  return (
    <li className={classes(css.row, isOver && css.over, isChosen !== undefined && css.selectable)}>
      {isChosen !== undefined && (
        <Check
          label={<span className={ui.hidden}>Select {incident.human_id}</span>}
          value={isChosen}
          onValue={(value) => choose?.([incident.id], value)}
        />
      )}
      <SeverityBadge value={incident.severity} />
      <div className={css.what}>
        <Link to="/incidents/$id" params={{ id: incident.human_id }} className={css.title}>
          {incident.title}
        </Link>
        <p className={ui.facts}>
          <span className={css.ref}>{incident.human_id}</span>
          {incident.restricted && <Restricted />}
          <UpdateDue incident={incident} />
          <DeclaredByKey incident={incident} />
          {incident.service && <ServiceName slug={incident.service} />}
          {team && <span>{team}</span>}
          {incident.incident_manager && <span>{nameOf(incident.incident_manager)}</span>}
          {incident.customer_impact_status === 'confirmed' && <span className={css.impact}>Customers affected</span>}
        </p>
      </div>
      <div className={css.state}>
        <StatusText value={incident.status} />
        <span className={css.when} title={formatTime(incident.created_at)}>
          {isOver ? (
            `${formatSpan(incident.created_at, endOf(incident))}, took ${formatDuration(incident.duration_seconds)}`
          ) : (
            <>
              {formatMoment(incident.created_at)}, <Ago time={incident.created_at} />
            </>
          )}
        </span>
      </div>
    </li>
  );
});

/** When an incident was over. */
const endOf = (incident: Incident): string => {
  const anchor = incident[incident.duration_anchor as 'created_at'];
  return new Date(Date.parse(anchor) + incident.duration_seconds * 1_000).toISOString();
};
