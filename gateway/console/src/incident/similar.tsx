import type { FindSimilarIncidentsReply, SimilarIncident } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useGet } from '../api/hooks.ts';
import { query } from '../api/query.ts';
import { StatusText } from '../incidents/incident-labels.tsx';
import { Button } from '../ui/button.tsx';
import { plural } from '../ui/format.ts';
import ui from '../ui/ui.module.css';
import css from './similar.module.css';

/** Milliseconds without a key until similar incidents are searched. */
const PAUSE = 300;

/** Incidents that are similar to one that somebody writes. A request begins when the one before has ended. */
function useSimilar(title: string, service: string): SimilarIncident[] {
  const [path, setPath] = useState('');
  const { data, isFetching } = useGet<FindSimilarIncidentsReply>(path, { enabled: path !== '' });
  useEffect(() => {
    if (isFetching) return;
    const written = { title: title.trim(), service: service || undefined };
    const next = written.title === '' ? '' : `/incidents/similar${query(written)}`;
    const timer = window.setTimeout(() => setPath(next), PAUSE);
    return () => window.clearTimeout(timer);
  }, [title, service, isFetching]);
  return path === '' || title.trim() === '' ? [] : (data?.similar ?? []);
}

/** What was declared before, below the title of an incident that somebody writes. Its height is always the same. */
export function SimilarIncidents({
  title,
  service,
  onChosen,
}: {
  title: string;
  service: string;
  /** With the reference of the incident that is the same. */
  onChosen: (reference: string) => void;
}) {
  const similar = useSimilar(title, service);
  return (
    <section className={css.similar} aria-label="Similar incidents">
      <p className={ui.hint} role="status">
        {similar.length === 0
          ? 'Similar incidents appear here.'
          : `${plural(similar.length, 'similar incident')}: is it one of them?`}
      </p>
      <ul>
        {similar.map(({ incident_id: id, human_id: name, title: its, status }) => (
          <li key={id}>
            <Link to="/incidents/$id" params={{ id: name }} target="_blank" aria-label={`${name} ${its}, in a new tab`}>
              <span className={ui.strong}>{name}</span> <bdi>{its}</bdi>
            </Link>
            <StatusText value={status} />
            <Button small aria-label={`It is this one: ${name}`} onClick={() => onChosen(name)}>
              It is this one
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
